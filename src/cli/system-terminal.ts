/** The terminal that the process was started in; made by bin/lockstep. */
import { emitKeypressEvents } from 'node:readline'
import { createInterface } from 'node:readline/promises'
import type { Terminal } from './terminal.ts'

/** Colours are for screens, and not where NO_COLOR says so. */
export function wantsColours(isScreen: boolean, env: NodeJS.ProcessEnv): boolean {
  return isScreen && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
}

/** Installs what makes a closed pipe silent. */
export function systemTerminal(): Terminal {
  const { stdin, stdout, stderr } = process
  const closed = new AbortController()
  // `lockstep ... | head`: whoever read has enough. What is under way goes on to its end, without output.
  for (const stream of [stdout, stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      if (stream === stdout) closed.abort()
    })
  return {
    out: text => {
      if (!closed.signal.aborted) stdout.write(text)
    },
    err: text => stderr.write(text),
    interactive: stdin.isTTY === true && stderr.isTTY === true,
    outIsScreen: stdout.isTTY === true,
    errIsScreen: stderr.isTTY === true,
    colours: wantsColours(stdout.isTTY === true, process.env),
    // A terminal that does not know its size says 0.
    columns: () => (stdout.isTTY ? stdout.columns || 80 : Number.POSITIVE_INFINITY),
    rows: () => (stdout.isTTY ? stdout.rows || 24 : Number.POSITIVE_INFINITY),
    ask,
    outClosed: closed.signal,
    interruptible,
    onKeys,
    onResize(listener) {
      stdout.on('resize', listener)
      return () => stdout.off('resize', listener)
    },
  }
}

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const typed = await Promise.race([
      lines.question(question),
      new Promise<string>(resolve => lines.once('close', () => resolve(''))),
    ])
    return typed
  } finally {
    lines.close()
  }
}

async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const abort = () => {
    // A second Ctrl-C does not wait for anything.
    if (controller.signal.aborted) process.exit(130)
    controller.abort()
  }
  process.on('SIGINT', abort)
  process.on('SIGTERM', abort)
  try {
    return await work(controller.signal)
  } finally {
    process.off('SIGINT', abort)
    process.off('SIGTERM', abort)
  }
}

function onKeys(listener: (key: string) => void): () => void {
  const { stdin } = process
  if (stdin.isTTY !== true) return () => {}
  emitKeypressEvents(stdin)
  const pressed = (text: string | undefined, key: { name?: string; ctrl?: boolean }) => {
    // In raw mode Ctrl-C is a key like any other.
    if (key.ctrl === true && key.name === 'c') process.kill(process.pid, 'SIGINT')
    else listener(text !== undefined && /^[!-~]$/.test(text) ? text : (key.name ?? ''))
  }
  stdin.on('keypress', pressed)
  stdin.setRawMode(true)
  stdin.resume()
  return () => {
    stdin.off('keypress', pressed)
    stdin.setRawMode(false)
    stdin.pause()
  }
}
