/** Does with the logs of mirror partitions that this node leads what the link coordinator on another node asks. The node's peer calls come here, after it was looked at whether the caller is that. */

import { messageOf } from '../../core/errors.ts'
import { retentionLimits } from '../../core/retention-limits.ts'
import type { Uuid } from '../../core/uuid.ts'
import { type MirrorLog, MirrorLogConflict } from '../../link/ports.ts'
import { PartitionUnavailable } from '../../replica/partition-unavailable.ts'
import {
  type LogAnswer,
  type LogOperation,
  type LogRequest,
  type LogResult,
  toldTransaction,
} from './peer-log-calls.ts'

export interface MirrorLogServiceOptions {
  /** Of a partition that this node leads. */
  readonly open: (topicId: Uuid, partition: number) => Promise<MirrorLog>
  /** Why the topic is no mirror that stops now, as far as this node knows; undefined = it is, and its log is still a mirror's. */
  readonly endingProblem: (topicId: Uuid) => string | undefined
}

/** Nobody needs more in one piece. */
const READ_BYTES_MAX = 4 * 1024 * 1024

const NO_LIMITS = retentionLimits(() => undefined)

const ENDING: ReadonlySet<LogOperation['kind']> = new Set(['reclaim', 'start-at', 'abort'])

export class MirrorLogService {
  readonly #o: MirrorLogServiceOptions

  constructor(options: MirrorLogServiceOptions) {
    this.#o = options
  }

  /** Side by side; one result per request, in order. Does not reject. */
  serve(requests: readonly LogRequest[]): Promise<LogResult[]> {
    return Promise.all(
      requests.map(async (request): Promise<LogResult> => {
        try {
          return { kind: 'done', answer: await this.#serve(request) }
        } catch (error) {
          const isLost = error instanceof MirrorLogConflict || error instanceof PartitionUnavailable
          return { kind: isLost ? 'conflict' : 'failed', message: messageOf(error) }
        }
      }),
    )
  }

  async #serve({ topicId, partition, leaderEpoch, operation }: LogRequest): Promise<LogAnswer> {
    const log = await this.#o.open(topicId, partition)
    const present = log.state().leaderEpoch
    if (present !== leaderEpoch)
      throw new MirrorLogConflict(`partition ${partition} is at leader epoch ${present} here, not ${leaderEpoch}`)
    const problem = ENDING.has(operation.kind) ? this.#o.endingProblem(topicId) : undefined
    if (problem !== undefined) throw new Error(problem)
    return { ...(await done(log, operation)), state: log.state() }
  }
}

/** What else is to be told than the state. */
async function done(log: MirrorLog, operation: LogOperation): Promise<Omit<LogAnswer, 'state'>> {
  switch (operation.kind) {
    case 'state':
      return {}
    case 'look':
      return producersOf(log)
    case 'last-batch': {
      const last = await log.lastBatch()
      const { baseOffset, lastOffset, crc } = last ?? {}
      const isThere = baseOffset !== undefined && lastOffset !== undefined && crc !== undefined
      return isThere ? { lastBatch: { baseOffset, lastOffset, crc } } : {}
    }
    case 'read': {
      const { offset, maxBytes } = operation
      const bytes = await log.readBatches({ offset, maxBytes: Math.min(maxBytes, READ_BYTES_MAX) })
      return { batches: bytes.toString('base64') }
    }
    case 'retention':
      return { bytesAtRisk: await log.retentionBytesAtRisk(operation.limits ?? NO_LIMITS) }
    case 'settle':
      await log.raiseLogStart(0)
      return {}
    case 'flush':
      await log.flush()
      return {}
    case 'reclaim':
      await log.reclaim()
      return producersOf(log)
    case 'start-at':
      // Asked for again, where the first answer was lost.
      if (operation.offset > log.state().logEndOffset) await log.startAt(operation.offset)
      return producersOf(log)
    case 'abort': {
      const aborted = await log.abortOpenTransactions()
      return { ...producersOf(log), aborted: aborted.map(toldTransaction) }
    }
  }
}

function producersOf(log: MirrorLog): Pick<LogAnswer, 'producers'> {
  const open = log.openTransactions().map(toldTransaction)
  return { producers: { idMax: String(log.producerIdMax()), ids: log.producerIds().map(String), open } }
}
