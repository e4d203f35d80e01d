/** The node's logger: pino behind the Logger port; JSON lines, or readable ones on a terminal. */
import { Writable } from 'node:stream'
import { styleText } from 'node:util'
import pino from 'pino'
import type { Logger } from '../core/logger.ts'

const LEVEL_NAMES: Readonly<Record<number, string>> = { 20: 'DEBUG', 30: 'INFO', 40: 'WARN', 50: 'ERROR' }
const COLOURS = { DEBUG: 'gray', INFO: 'green', WARN: 'yellow', ERROR: 'red' } as const

/** Writes lines of at least `level` to `out`. */
export function nodeLogger(options: { level: string; out: NodeJS.WriteStream }): Logger {
  const settings = { level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  return wrap(
    options.out.isTTY
      ? pino(settings, readableLines(options.out))
      : pino(settings, pino.destination({ fd: 1, sync: true })),
  )
}

function wrap(target: pino.Logger): Logger {
  return {
    debug: (message, fields) => target.debug(fields ?? {}, message),
    info: (message, fields) => target.info(fields ?? {}, message),
    warn: (message, fields) => target.warn(fields ?? {}, message),
    error: (message, fields) => target.error(fields ?? {}, message),
    child: fields => wrap(target.child(fields)),
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
