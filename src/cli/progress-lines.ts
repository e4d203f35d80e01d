/** Progress on standard error: on a screen a line for each thing, written over; elsewhere a line for each change. Used by --wait and verify. */
import type { Terminal } from './terminal.ts'
import { cutText } from './text-width.ts'

export interface ProgressLine {
  readonly name: string
  readonly text: string
}

/** More lines than this are not written over: they would not fit the screen. */
const MARGIN_ROWS = 2

export class ProgressLines {
  readonly #terminal: Terminal
  readonly #shown = new Map<string, string>()
  #height = 0

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  show(lines: readonly ProgressLine[]): void {
    const { columns, rows, errIsScreen, outIsScreen } = this.#terminal
    // Only a screen whose size is known can be written over.
    if (errIsScreen && outIsScreen && lines.length <= rows() - MARGIN_ROWS) this.#overwrite(lines, columns())
    else this.#append(lines)
  }

  /** What was shown stays. */
  end(): void {
    this.#height = 0
  }

  #append(lines: readonly ProgressLine[]): void {
    for (const { name, text } of lines) {
      if (this.#shown.get(name) === text) continue
      this.#shown.set(name, text)
      this.#terminal.err(`${name}: ${text}\n`)
    }
  }

  /** One write, so that nothing flickers. */
  #overwrite(lines: readonly ProgressLine[], columns: number): void {
    const width = Math.max(...lines.map(({ name }) => name.length))
    const up = this.#height > 0 ? `\u001b[${this.#height}A` : ''
    const text = lines.map(line => `${cutText(`${line.name.padEnd(width)}  ${line.text}`, columns)}\u001b[K\n`).join('')
    this.#height = lines.length
    this.#terminal.err(`${up}${text}`)
  }
}
