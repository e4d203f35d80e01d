/** What one Lockstep node asks another about the log of a mirror partition that the other leads, and its answers, as they travel. Spoken by PeerMirrorLog and MirrorLogService. */
import type { RetentionLimits } from '../../core/retention-limits.ts'
import type { Uuid } from '../../core/uuid.ts'
import { MirrorLogConflict, type MirrorLogState, type OpenTransaction } from '../../link/ports.ts'

export type LogOperation =
  /** Nothing but the state. */
  | { readonly kind: 'state' }
  /** The state, and the producers that the log remembers. */
  | { readonly kind: 'look' }
  | { readonly kind: 'last-batch' }
  | { readonly kind: 'read'; readonly offset: number; readonly maxBytes: number }
  /** `limits`: absent in questions of older versions. */
  | { readonly kind: 'retention'; readonly limits?: RetentionLimits }
  /** What is queued for the log is done before. */
  | { readonly kind: 'settle' }
  | { readonly kind: 'flush' }
  /** These three only for a mirror that stops. */
  | { readonly kind: 'reclaim' }
  | { readonly kind: 'start-at'; readonly offset: number }
  | { readonly kind: 'abort' }

export interface LogRequest {
  readonly topicId: Uuid
  readonly partition: number
  /** The leader epoch that the caller means; in another one nothing is done. */
  readonly leaderEpoch: number
  readonly operation: LogOperation
}

/** Ids in decimal: JSON has no large numbers. */
export interface ToldTransaction {
  readonly producerId: string
  readonly producerEpoch: number
  readonly firstOffset: number
}

export interface ToldProducers {
  readonly idMax: string
  readonly ids: readonly string[]
  readonly open: readonly ToldTransaction[]
}

export interface LogAnswer {
  readonly state: MirrorLogState
  readonly producers?: ToldProducers
  readonly aborted?: readonly ToldTransaction[]
  readonly lastBatch?: { readonly baseOffset: number; readonly lastOffset: number; readonly crc: number }
  /** Base64. */
  readonly batches?: string
  readonly bytesAtRisk?: number
}

/** What became of one request. */
export type LogResult =
  | { readonly kind: 'done'; readonly answer: LogAnswer }
  /** Another node leads the partition, or in another epoch. */
  | { readonly kind: 'conflict'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string }

export const toldTransaction = ({ producerId, producerEpoch, firstOffset }: OpenTransaction): ToldTransaction => ({
  producerId: String(producerId),
  producerEpoch,
  firstOffset,
})

export const heardTransaction = ({ producerId, producerEpoch, firstOffset }: ToldTransaction): OpenTransaction => ({
  producerId: BigInt(producerId),
  producerEpoch,
  firstOffset,
})

/** Throws what the result says. */
export function answerOf(result: LogResult): LogAnswer {
  if (result.kind === 'done') return result.answer
  throw result.kind === 'conflict' ? new MirrorLogConflict(result.message) : new Error(result.message)
}
