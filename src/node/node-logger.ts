/** The node's logger: pino behind the Logger port; JSON lines, or readable ones on a terminal. */
import { Writable } from 'node:stream'
import { styleText } from 'node:util'
import pino from 'pino'
import type { Logger } from '../core/logger.ts'
import type { LoggerLevels } from '../core/logger-levels.ts'

const LEVEL_NAMES: Readonly<Record<number, string>> = { 20: 'DEBUG', 30: 'INFO', 40: 'WARN', 50: 'ERROR' }
const COLOURS = { DEBUG: 'gray', INFO: 'green', WARN: 'yellow', ERROR: 'red' } as const

/** Writes lines to `out` that are severe enough for `levels`, which may change at any time. */
export function nodeLogger(options: { levels: LoggerLevels; out: NodeJS.WriteStream }): Logger {
  // What is written is decided before pino sees it.
  const settings = { level: 'debug', base: null, timestamp: pino.stdTimeFunctions.isoTime }
  const target = options.out.isTTY
    ? pino(settings, readableLines(options.out))
    : pino(settings, pino.destination({ fd: 1, sync: true }))
  return wrap(target, options.levels, undefined)
}

function wrap(target: pino.Logger, levels: LoggerLevels, component: string | undefined): Logger {
  const writer =
    (severity: 'debug' | 'info' | 'warn' | 'error'): Logger['info'] =>
    (message, fields) => {
      if (levels.writes(severity, component)) target[severity](fields ?? {}, message)
    }
  return {
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
    child(fields) {
      const own = typeof fields['component'] === 'string' ? fields['component'] : component
      if (own !== undefined) levels.note(own)
      return wrap(target.child(fields), levels, own)
    },
  }
}

/** `12:00:00.000 INFO  message  key=value` */
function readableLines(out: NodeJS.WriteStream): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      const { level, time, msg, ...fields } = JSON.parse(chunk.toString()) as Record<string, unknown>
      const name = LEVEL_NAMES[Number(level)] ?? String(level)
      const colour = COLOURS[name as keyof typeof COLOURS] ?? 'white'
      const rest = Object.entries(fields).map(([key, value]) => ` ${styleText('dim', `${key}=`)}${text(value)}`)
      out.write(`${String(time).slice(11, 23)} ${styleText(colour, name.padEnd(5))} ${String(msg)} ${rest.join('')}\n`)
      done()
    },
  })
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
