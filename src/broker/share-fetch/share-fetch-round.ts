/** Gets records for a member out of the partitions of its session, and waits for them as long as it may; the ShareFetch handler calls it. */
import { coordinatorErrorCode } from '../../coordinator/runtime/coordinator-error.ts'
import type { AcquiredRecords } from '../../coordinator/share-partitions/acquire-records.ts'
import type { ShareRead } from '../../coordinator/share-partitions/read-for-group.ts'
import type { AcquireRequest, SharePartition } from '../../coordinator/share-partitions/share-partition.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { AnswerMemory } from '../../replica/answer-memory.ts'
import { PartitionUnavailable } from '../../replica/partition-unavailable.ts'
import type { BrokerContext } from '../handler.ts'
import type { SharedPartition, ShareMember } from './share-sessions.ts'

export interface ShareQuery extends Pick<AcquireRequest, 'recordsMax' | 'batchSize' | 'mode'> {
  readonly member: ShareMember
  /** In the order in which they get their turns. */
  readonly wanted: readonly SharedPartition[]
  readonly maxWaitMs: number
  readonly minBytes: number
  readonly bytesMax: number
  readonly memory: AnswerMemory
  readonly signal: AbortSignal
}

/** The answer for a partition; `records` are the whole batches that the acquired records are in. */
export interface SharedRecords extends SharedPartition {
  readonly errorCode: number
  readonly records: Buffer
  readonly acquired: readonly AcquiredRecords[]
}

const NOTHING = Buffer.alloc(0)

/** Those with records or an error. Never rejects because of one partition. */
export async function fetchShares(broker: BrokerContext, query: ShareQuery): Promise<SharedRecords[]> {
  const { clock } = broker
  const deadlineMs = clock.monotonicMs() + query.maxWaitMs
  const failed: SharedRecords[] = []
  const shares: { readonly wanted: SharedPartition; readonly share: SharePartition }[] = []
  for (const wanted of query.wanted) {
    try {
      const share = await broker.sharePartitions.open({ groupId: query.member.groupId, ...wanted })
      shares.push({ wanted, share })
    } catch (error) {
      failed.push(failure(broker, wanted, error))
    }
  }
  const news = new News(
    shares.map(({ share }) => share),
    query.signal,
  )
  try {
    for (;;) {
      query.memory.release()
      const reads = await readAll(broker, shares, query)
      const remainingMs = deadlineMs - clock.monotonicMs()
      const isLast = remainingMs <= 0 || query.signal.aborted || news.isStopping || shares.length === 0
      const isEnough = reads.bytes > 0 && reads.bytes >= Math.min(query.minBytes, query.bytesMax)
      if (isLast || isEnough || reads.failed.length > 0) {
        const found = query.signal.aborted ? giveBack(reads.found) : acquireAll(broker, reads.found, query)
        if (found.length > 0 || isLast || reads.failed.length > 0) return [...found, ...reads.failed, ...failed]
      } else giveBack(reads.found)
      await news.next(remainingMs, clock)
    }
  } finally {
    news.close()
  }
}

interface Found {
  readonly wanted: SharedPartition
  readonly share: SharePartition
  readonly read: ShareRead
}

async function readAll(
  broker: BrokerContext,
  shares: readonly { readonly wanted: SharedPartition; readonly share: SharePartition }[],
  { bytesMax, memory }: Pick<ShareQuery, 'bytesMax' | 'memory'>,
): Promise<{ readonly found: Found[]; readonly failed: SharedRecords[]; readonly bytes: number }> {
  const found: Found[] = []
  const failed: SharedRecords[] = []
  let bytes = 0
  for (const [index, { wanted, share }] of shares.entries()) {
    try {
      const left = bytesMax - bytes
      if (left <= 0) break
      const read = await share.read({ bytesMax: Math.ceil(left / (shares.length - index)), memory })
      if (!read) continue
      bytes += read.records.length
      found.push({ wanted, share, read })
    } catch (error) {
      failed.push(failure(broker, wanted, error))
    }
  }
  return { found, failed, bytes }
}

function acquireAll({ sharePartitions }: BrokerContext, found: readonly Found[], query: ShareQuery): SharedRecords[] {
  const { batchSize, mode, member } = query
  let left = query.recordsMax
  return found.flatMap(({ wanted, share, read }) => {
    if (left <= 0) {
      share.giveBack()
      return []
    }
    const request = { memberId: member.memberId, recordsMax: left, batchSize, mode }
    const { acquired, position, endPosition } = share.acquire(read, request)
    if (acquired.length === 0) return []
    const delivered = acquired.reduce((sum, { firstOffset, lastOffset }) => sum + lastOffset - firstOffset + 1, 0)
    left -= delivered
    sharePartitions.count({ delivered })
    return { ...wanted, errorCode: ErrorCode.NONE, acquired, records: read.records.subarray(position, endPosition) }
  })
}

function giveBack(found: readonly Found[]): SharedRecords[] {
  for (const { share } of found) share.giveBack()
  return []
}

function failure({ logger }: BrokerContext, wanted: SharedPartition, error: unknown): SharedRecords {
  const errorCode = error instanceof PartitionUnavailable ? error.errorCode : coordinatorErrorCode(error)
  if (errorCode === ErrorCode.UNKNOWN_SERVER_ERROR)
    logger.error('a share group cannot read a partition', { ...wanted, error: String(error) })
  return { ...wanted, errorCode, records: NOTHING, acquired: [] }
}

/** Tells when another look may find more than the one before; what happens between two looks is not missed. */
class News {
  readonly #shares: readonly SharePartition[]
  readonly #stops: (() => void)[] = []
  #happened = false
  #wake: (() => void) | undefined

  constructor(shares: readonly SharePartition[], signal: AbortSignal) {
    this.#shares = shares
    const look = () => {
      this.#happened = true
      this.#wake?.()
    }
    for (const share of shares) this.#stops.push(share.watch(look), share.partition.watch(look))
    signal.addEventListener('abort', look, { once: true })
    this.#stops.push(() => signal.removeEventListener('abort', look))
  }

  /** The node is about to stop. */
  get isStopping(): boolean {
    return this.#shares.some(({ partition }) => partition.isStopping)
  }

  async next(remainingMs: number, clock: BrokerContext['clock']): Promise<void> {
    if (!this.#happened)
      await new Promise<void>(resolve => {
        this.#wake = resolve
        const timer = clock.after(Math.max(0, remainingMs), resolve)
        this.#stops.push(() => timer.cancel())
      })
    this.#wake = undefined
    this.#happened = false
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }
}
