/** One verification: its topics and partitions, a few at a time, with what is known of each. Kept by Verifications. */
import type { ByteBudget } from '../../core/byte-budget.ts'
import { messageOf, OperationalError } from '../../core/errors.ts'
import type { Uuid } from '../../core/uuid.ts'
import { mapBounded } from '../coordination/bounded.ts'
import { linkError } from '../errors.ts'
import { isSameTopicId } from '../mirror/topic-identity.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import type { VerificationView, VerifyRequest } from '../verification-api.ts'
import type { ComparedRange, ComparisonProgress } from './compare-partition.ts'
import { PatientSource } from './patient-source.ts'
import { ReadPace } from './read-pace.ts'
import { type PartitionVerdict, type VerifiedMirror, verifyPartition } from './verify-partition.ts'

type PartitionState = VerificationView['topics'][number]['partitions'][number]['state']

interface VerifiedPartition {
  readonly partition: number
  state: PartitionState
  message: string | undefined
  range: ComparedRange | undefined
  progress: ComparisonProgress | undefined
  verdict: PartitionVerdict | undefined
}

interface VerifiedTopic {
  readonly mirrorTopic: string
  record: MirrorRecord | undefined
  error: { readonly code: number; readonly message: string } | undefined
  partitions: VerifiedPartition[]
}

export interface VerificationOptions {
  readonly id: string
  readonly linkId: Uuid
  readonly linkName: string
  readonly topics: readonly string[]
  readonly request: VerifyRequest
  /** Partitions of all verifications that are compared at the same time. */
  readonly slots: ByteBudget
  readonly context: OperationContext
}

/** Bytes per second read from the source unless asked otherwise: a fraction of what mirroring does on a slow machine. */
const defaultBytesPerSecond = 20 * 1024 * 1024
/** Partitions of one verification that wait for a slot at the same time. */
const parallel = 4

export class Verification {
  readonly id: string
  readonly linkId: Uuid
  /** Resolves when it has ended, whatever came out. */
  readonly ended: Promise<void>
  readonly #o: VerificationOptions
  readonly #abort = new AbortController()
  readonly #pace: ReadPace
  readonly #topics: VerifiedTopic[]
  readonly #startMs: number
  #endMs: number | undefined

  constructor(options: VerificationOptions) {
    const { clock } = options.context
    this.id = options.id
    this.linkId = options.linkId
    this.#o = options
    this.#startMs = clock.nowMs()
    this.#pace = new ReadPace(clock, options.request.maxBytesPerSecond ?? defaultBytesPerSecond)
    this.#topics = options.topics.map(mirrorTopic => this.#begin(mirrorTopic))
    this.ended = this.#run()
  }

  get isRunning(): boolean {
    return this.#endMs === undefined
  }

  cancel(): void {
    this.#abort.abort(new Error('cancelled'))
  }

  view(): VerificationView {
    const topics = this.#topics.map(topic => ({
      mirrorTopicName: topic.mirrorTopic,
      sourceTopicName: topic.record?.sourceTopic ?? null,
      errorCode: topic.error?.code ?? null,
      errorMessage: topic.error?.message ?? null,
      partitions: topic.partitions.map(partitionView),
    }))
    const isCancelled = this.#abort.signal.aborted
    return {
      id: this.id,
      linkName: this.#o.linkName,
      state: this.isRunning ? 'RUNNING' : isCancelled ? 'CANCELLED' : 'COMPLETED',
      outcome: this.isRunning ? null : outcomeOf(topics),
      startTimeMs: this.#startMs,
      endTimeMs: this.#endMs ?? null,
      topics,
    }
  }

  #begin(mirrorTopic: string): VerifiedTopic {
    const { context, linkId, linkName, request } = this.#o
    const record = context.desired.mirror(linkId, mirrorTopic)
    if (!record) {
      const { row, message } = linkError('MIRROR_NOT_FOUND', { topic: mirrorTopic, link: linkName })
      return { mirrorTopic, record, error: { code: row.restCode, message }, partitions: [] }
    }
    const all = [...record.startOffsets.keys()]
    const partitions = [...new Set(request.partitions ?? all)].map(partition => waiting(partition, all.length))
    return { mirrorTopic, record, error: undefined, partitions }
  }

  async #run(): Promise<void> {
    await mapBounded(this.#topics, parallel, topic => this.#verifyTopic(topic))
    for (const { partitions } of this.#topics)
      for (const partition of partitions) if (partition.state === 'WAITING') partition.state = 'CANCELLED'
    this.#endMs = this.#o.context.clock.nowMs()
  }

  async #verifyTopic(topic: VerifiedTopic): Promise<void> {
    const { record } = topic
    if (!record) return
    try {
      const isCompacted = await this.#prepare(record)
      const present = topic.partitions.filter(({ state }) => state === 'WAITING')
      await mapBounded(present, parallel, async partition => {
        if (!this.#abort.signal.aborted) await this.#verifyPartition(record, partition, isCompacted)
      })
    } catch (error) {
      if (this.#abort.signal.aborted) return
      const code = error instanceof OperationalError ? error.row.restCode : 50003
      topic.error = { code, message: messageOf(error) }
      for (const partition of topic.partitions) partition.state = 'INCOMPLETE'
    }
  }

  /** Is it the topic that was mirrored, and is it cleaned? Rejects if not, or if that cannot be found out. */
  async #prepare(record: MirrorRecord): Promise<boolean> {
    const { context } = this.#o
    const { sourceTopic, sourceTopicId, topicId, mirrorTopic } = record
    if (context.destination.topicById(topicId) === undefined)
      throw linkError('VERIFICATION_IMPOSSIBLE', { topic: mirrorTopic, reason: 'it was deleted' })
    const asked = this.#source(() => {})
    const [topic] = await asked.ask((source, signal) => source.describeTopics([sourceTopic], signal))
    const reason = !topic
      ? `the source has no topic '${sourceTopic}'`
      : !isSameTopicId(topic.topicId, sourceTopicId)
        ? `the source topic has id ${topic.topicId} instead of ${sourceTopicId}: it is another one`
        : undefined
    if (reason !== undefined) throw linkError('VERIFICATION_IMPOSSIBLE', { topic: mirrorTopic, reason })
    const policy = 'cleanup.policy'
    const here = context.topicConfigs.of(topicId, policy)?.value
    const there = await asked
      .ask((source, signal) => source.describeTopicConfigs([sourceTopic], signal))
      .then(configs => configs.get(sourceTopic)?.get(policy)?.value)
      // Whoever may not describe configs may read all the same.
      .catch(() => here)
    return [here, there].some(value => value?.includes('compact') === true)
  }

  async #verifyPartition(record: MirrorRecord, partition: VerifiedPartition, isCompacted: boolean): Promise<void> {
    const { context, request, slots } = this.#o
    const { signal } = this.#abort
    const mirror: VerifiedMirror = {
      destination: context.destination,
      source: this.#source(reason => {
        partition.message = reason
      }),
      record: () => {
        const present = context.desired.mirror(record.linkId, record.mirrorTopic)
        return present?.topicId === record.topicId ? present : undefined
      },
      isCompacted,
      pace: this.#pace,
      signal,
    }
    let release = () => {}
    try {
      release = await slots.acquire(1, signal)
      partition.state = 'RUNNING'
      const asked = { partition: partition.partition, from: request.fromOffset, to: request.toOffset }
      const verdict = await verifyPartition(mirror, asked, (range, progress) => {
        partition.range = range
        partition.progress = progress
      })
      partition.verdict = verdict
      partition.message = undefined
      partition.state = verdict.difference ? 'DIFFERENT' : verdict.isIncomplete ? 'INCOMPLETE' : 'EQUAL'
    } catch (error) {
      partition.state = signal.aborted ? 'CANCELLED' : 'INCOMPLETE'
      partition.message = signal.aborted ? 'cancelled' : messageOf(error)
      const { progress, range } = partition
      if (progress && range && progress.nextOffset < range.to)
        progress.uncompared.push({ from: progress.nextOffset, to: range.to, reason: partition.message })
    } finally {
      release()
    }
  }

  #source(waiting: (reason: string | undefined) => void): PatientSource {
    const { context, linkId, linkName } = this.#o
    const { clock, random } = context
    const runtime = () => context.runtime(linkId)
    return new PatientSource({
      source: () => {
        // Nobody will connect to it any more.
        if (!context.desired.link(linkId)) throw linkError('LINK_NOT_FOUND', { link: linkName })
        return runtime()?.source
      },
      retryTimeoutMs: runtime()?.configs.must('cluster.link.retry.timeout.ms') ?? 0,
      ...{ waiting, signal: this.#abort.signal, clock, random },
    })
  }
}

function waiting(partition: number, present: number): VerifiedPartition {
  const nothing = { range: undefined, progress: undefined, verdict: undefined }
  return partition < present
    ? { partition, state: 'WAITING', message: undefined, ...nothing }
    : { partition, state: 'INCOMPLETE', message: `the mirror has no partition ${partition}`, ...nothing }
}

function partitionView({ partition, state, message, range, progress, verdict }: VerifiedPartition) {
  return {
    partition,
    state,
    method: progress === undefined ? null : progress.byRecords ? ('RECORDS' as const) : ('BATCHES' as const),
    fromOffset: range?.from ?? null,
    toOffset: range?.to ?? null,
    // A batch at the end may reach beyond it.
    nextOffset: progress && range ? Math.min(progress.nextOffset, range.to) : null,
    comparedBytes: progress?.bytes ?? 0,
    comparedBatches: progress?.batches ?? 0,
    comparedRecords: progress?.records ?? 0,
    recordsOnlyAtSource: progress?.onlyAtSource ?? 0,
    recordsOnlyAtMirror: progress?.onlyAtMirror ?? 0,
    difference: verdict?.difference ?? null,
    notCompared: [...(progress?.uncompared ?? [])],
    message: message ?? null,
  }
}

function outcomeOf(topics: VerificationView['topics']): 'EQUAL' | 'DIFFERENT' | 'INCOMPLETE' {
  const states = topics.flatMap(({ partitions }) => partitions.map(({ state }) => state))
  if (states.includes('DIFFERENT')) return 'DIFFERENT'
  const isEqual = topics.every(({ errorCode }) => errorCode === null) && states.every(state => state === 'EQUAL')
  // Of nothing it cannot be said.
  return isEqual && states.length > 0 ? 'EQUAL' : 'INCOMPLETE'
}
