/** What a started node is to whoever started it, and what it is given; both kinds of start make one. */
import type { Logger } from '../core/logger.ts'
import type { LoggerLevels } from '../core/logger-levels.ts'

export interface RunningNode {
  readonly clusterId: string
  /** `host:port` of every client listener, as bound. */
  readonly kafkaAddresses: readonly string[]
  readonly restUrl: string
  /** Stops in the reverse order of the start; everything acknowledged is on disk when it resolves. */
  close(): Promise<void>
}

export interface NodeEnvironment {
  readonly logger: Logger
  /** How much it writes. */
  readonly loggers: LoggerLevels
  readonly version: string
  /** Of the build; undefined if it is not known. */
  readonly commit?: string | undefined
}
