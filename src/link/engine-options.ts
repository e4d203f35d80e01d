/** What an engine is made of; the composition root gives it. */
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { Random } from '../core/random.ts'
import type { Peers } from './peer-ports.ts'
import type { Destination, SecretBox, SourceClusterFactory, StateLog } from './ports.ts'
import type { TailExports } from './restore/tail-export-port.ts'

export interface EngineOptions {
  readonly stateLog: StateLog
  /** `__lockstep_status`; without it nothing is published. */
  readonly statusLog?: StateLog
  readonly destination: Destination
  /** Absent where there are no other nodes. */
  readonly peers?: Peers
  readonly sources: SourceClusterFactory
  /** Without it links cannot have secrets. */
  readonly secrets?: SecretBox
  /** Without it nothing can be exported before it is cut off. */
  readonly tailExports?: TailExports
  /** How long a reverse waits for transactions that are open in the topic; default 60 s. */
  readonly reverseTransactionWaitMs?: number
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}
