/** Loggers of this node as config resources (KIP-412): Kafka's names of levels, and which changes are refused; DescribeConfigs and IncrementalAlterConfigs use it. */
import { type LoggerLevels, type LogLevel, ROOT_LOGGER } from '../core/logger-levels.ts'
import { ConfigSource, type DescribedConfig } from '../metadata/config-resolution.ts'
import type { ConfigAlteration } from '../metadata/controller-port.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { RequestFailure } from './handler.ts'

const levels: Readonly<Record<string, LogLevel>> = {
  TRACE: 'debug',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
  FATAL: 'silent',
}

const kafkaNames: Readonly<Record<LogLevel, string>> = {
  debug: 'DEBUG',
  info: 'INFO',
  warn: 'WARN',
  error: 'ERROR',
  silent: 'FATAL',
}

/** `keys` null = all; unknown ones are left out. */
export const describeLoggers = (loggers: LoggerLevels, keys: readonly string[] | null): DescribedConfig[] =>
  loggers.names
    .filter(name => keys === null || keys.includes(name))
    .map(name => ({
      name,
      value: kafkaNames[loggers.levelOf(name)],
      source: ConfigSource.DYNAMIC_BROKER_LOGGER,
      type: 0,
      readOnly: false,
      sensitive: false,
      synonyms: [],
      doc: '',
    }))

/** All changes or none. Throws RequestFailure with Kafka's codes. */
export function alterLoggers(
  loggers: LoggerLevels,
  changes: ConfigAlteration['changes'],
  { validateOnly }: { readonly validateOnly: boolean },
): void {
  const wanted = changes.map(change => [change.key, levelAfter(loggers, change)] as const)
  if (!validateOnly) for (const [name, level] of wanted) loggers.set(name, level)
}

function levelAfter(loggers: LoggerLevels, { key, operation, value }: ConfigAlteration['changes'][number]) {
  if (operation === 'append' || operation === 'subtract')
    throw new RequestFailure(ErrorCode.INVALID_REQUEST, `${operation.toUpperCase()} is not possible for loggers`)
  if (!loggers.names.includes(key)) throw new RequestFailure(ErrorCode.INVALID_CONFIG, `Logger ${key} does not exist!`)
  if (operation === 'set') {
    const level = levels[value ?? '']
    if (level !== undefined) return level
    const valid = Object.keys(levels).sort().join(', ')
    throw new RequestFailure(ErrorCode.INVALID_CONFIG, `${key} cannot have the level ${value}; valid are ${valid}`)
  }
  if (key === ROOT_LOGGER)
    throw new RequestFailure(ErrorCode.INVALID_REQUEST, 'Removing the log level of the root logger is not allowed')
  return undefined
}
