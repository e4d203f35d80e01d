/** A terminal that remembers what was written, for tests. */
import type { Terminal } from '../terminal.ts'

export interface FakeTerminal extends Terminal {
  readonly written: { out: string; err: string }
  readonly asked: string[]
}

export interface FakeTerminalOptions {
  /** Typed at every prompt; without it nobody can be asked. */
  readonly answer?: string | undefined
  /** Width of a screen; without it there is no screen. */
  readonly columns?: number | undefined
}

export function fakeTerminal({ answer, columns }: FakeTerminalOptions = {}): FakeTerminal {
  const written = { out: '', err: '' }
  const asked: string[] = []
  return {
    written,
    asked,
    out: text => {
      written.out += text
    },
    err: text => {
      written.err += text
    },
    interactive: answer !== undefined,
    outIsScreen: columns !== undefined,
    errIsScreen: columns !== undefined,
    colours: false,
    columns: () => columns ?? Number.POSITIVE_INFINITY,
    rows: () => 24,
    ask: async question => {
      asked.push(question)
      return answer ?? ''
    },
    outClosed: new AbortController().signal,
    interruptible: work => work(new AbortController().signal),
    onKeys: () => () => {},
    onResize: () => () => {},
  }
}
