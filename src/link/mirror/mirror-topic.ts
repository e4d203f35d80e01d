/** The partitions of one mirror topic on this node: started and stopped as its record says. Used by the link runtime. */
import { Backoff } from '../../core/backoff.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Random } from '../../core/random.ts'
import type { MirrorChanges, MirrorId } from '../coordination/mirror-changes.ts'
import type { StateJournal } from '../coordination/state-journal.ts'
import type { Destination, MirrorLog, SourceCluster } from '../ports.ts'
import type { DesiredState } from '../replay/desired-state.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import type { MirrorTopicError } from '../states/mirror-topic-error.ts'
import { withHistory } from '../states/transition.ts'
import { EpochLedger } from './epoch-ledger.ts'
import type { IncidentCounts } from './incident-counts.ts'
import { MirrorPartition, type MirrorSettings, type PartitionOwner } from './mirror-partition.ts'
import { type IncidentKind, PartitionFigures } from './partition-figures.ts'
import { PartitionPipeline } from './partition-pipeline.ts'
import { PartitionWatch } from './partition-watch.ts'
import { TopicTroubles } from './topic-troubles.ts'

export interface MirrorTopicOptions {
  readonly record: MirrorRecord
  readonly source: SourceCluster
  readonly destination: Destination
  readonly desired: DesiredState
  readonly journal: StateJournal
  readonly changes: MirrorChanges
  readonly incidents: IncidentCounts
  readonly settings: () => MirrorSettings
  /** How long a partition may rest before the watchdog asks its source. */
  readonly stallMs: number
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** How a promote stands. */
export interface PromotionStatus {
  /** What each partition waits for; index = partition. */
  readonly waiting: readonly (string | undefined)[]
  readonly errors: readonly { readonly code: string; readonly message: string; readonly sinceMs: number }[]
}

interface MirroredPartition {
  readonly figures: PartitionFigures
  readonly pipeline: PartitionPipeline
  readonly watch: PartitionWatch
}

export class MirrorTopic {
  readonly id: MirrorId
  readonly topicId: MirrorRecord['topicId']
  /** Told by the promotion task; undefined = no promote has been looked at. */
  promotion: PromotionStatus | undefined
  readonly #o: MirrorTopicOptions
  readonly #partitions: MirroredPartition[] = []
  readonly #troubles: TopicTroubles
  #stateEpoch: number

  constructor(options: MirrorTopicOptions) {
    this.#o = options
    const { linkId, mirrorTopic, topicId, stateEpoch } = options.record
    this.id = { linkId, mirrorTopic, topicId }
    this.topicId = topicId
    this.#stateEpoch = stateEpoch
    const partitions = () => this.#partitions.length
    const retryTimeoutMs = () => options.settings().retryTimeoutMs
    this.#troubles = new TopicTroubles(this.id, { ...options, partitions, retryTimeoutMs })
    this.#grow(options.record)
  }

  /** Index = partition. */
  get figures(): readonly PartitionFigures[] {
    return this.#partitions.map(({ figures }) => figures)
  }

  /** What the watchdog looks at. Index = partition. */
  get watches(): readonly PartitionWatch[] {
    return this.#partitions.map(({ watch }) => watch)
  }

  /** Fetches the partitions that have not failed, or none. Resolves when those that must not run have stopped. */
  async apply(record: MirrorRecord, fetching: boolean): Promise<void> {
    // A resume begins anew: what lasted before it does not count.
    if (record.stateEpoch !== this.#stateEpoch && record.troubles.length === 0) this.#troubles.forget()
    this.#stateEpoch = record.stateEpoch
    this.#grow(record)
    const failed = new Set(record.failures.map(failure => failure.partition))
    const stops = this.#partitions.map(({ pipeline }, partition) => {
      if (!fetching || failed.has(partition) || !this.#leads(partition)) return pipeline.stop()
      pipeline.start()
      return undefined
    })
    await Promise.all(stops)
  }

  /** After it resolves nothing is fetched or appended any more. */
  async stop(): Promise<void> {
    await Promise.all(this.#partitions.map(({ pipeline }) => pipeline.stop()))
  }

  #grow({ startOffsets }: MirrorRecord): void {
    for (let partition = this.#partitions.length; partition < startOffsets.length; partition++) {
      const figures = new PartitionFigures(partition)
      const pipeline = this.#pipeline(figures, startOffsets[partition] ?? 0)
      this.#partitions.push({ figures, pipeline, watch: this.#watch(figures, pipeline) })
      if (this.#leads(partition)) void pipeline.attach()
    }
  }

  /** Other partitions are mirrored by the nodes that lead them. */
  #leads(partition: number): boolean {
    return this.#o.destination.leads(this.topicId, partition)
  }

  #watch(figures: PartitionFigures, pipeline: PartitionPipeline): PartitionWatch {
    const { record, stallMs, clock, random, logger, incidents } = this.#o
    const { sourceTopic, mirrorTopic: topic } = record
    const report = (reason: string, isFirst: boolean) => {
      const { partition } = figures
      logger.warn('a mirror partition stands still', { topic, partition, reason })
      if (!isFirst) return incidents.count('stalled')
      this.#incident('stalled', `partition ${partition}: ${reason}`).catch(error =>
        logger.warn('an incident could not be recorded', { topic, partition, error: messageOf(error) }),
      )
    }
    return new PartitionWatch({ sourceTopic, figures, pipeline, stallMs, report, clock, random })
  }

  #pipeline(figures: PartitionFigures, startOffset: number): PartitionPipeline {
    const { record, source, destination, clock, random } = this.#o
    return new PartitionPipeline({
      sourceTopic: record.sourceTopic,
      startOffset,
      figures,
      fetcher: source.fetcher,
      openLog: () => destination.openLedLog(record.topicId, figures.partition),
      sink: (log, signal) => this.#sink(figures, log, signal),
      clock,
      random,
    })
  }

  #sink(figures: PartitionFigures, log: MirrorLog, signal: AbortSignal): MirrorPartition {
    const { record, source, desired, destination, journal, settings, clock, random, logger } = this.#o
    const { topicId, sourceClusterId, sourceTopicId, sourceTopic } = record
    const { partition } = figures
    const key = { topicId, partition, sourceClusterId }
    const ledger = new EpochLedger(key, { desired, journal, recordsLed: destination.fence.hasOtherLeaders })
    const owner = this.#owner(signal)
    const copies = { source, sourceTopic, partition, log, signal }
    return new MirrorPartition({
      sourceTopicId,
      log,
      copies,
      ledger,
      figures,
      owner,
      settings,
      clock,
      random,
      logger,
    })
  }

  #owner(signal: AbortSignal): PartitionOwner {
    return {
      failed: (partition, failure) => this.#fail([partition], failure, signal),
      troubled: async trouble => {
        const verdict = await this.#troubles.seen(trouble)
        if (verdict === undefined) return 'continue'
        if (trouble.kind === 'topic-id-changed') this.#o.incidents.count('topic_id_changed')
        // It concerns the topic: all its partitions end with one durable write.
        await this.#fail([...this.#partitions.keys()], verdict, signal)
        return 'stop'
      },
      answered: partition => this.#troubles.answered(partition),
      incident: (kind, message) => this.#incident(kind, message),
    }
  }

  async #fail(
    partitions: readonly number[],
    failure: { error: MirrorTopicError; reason: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { changes, clock, random, logger } = this.#o
    const backoff = new Backoff({ initialMs: 100, maxMs: 10_000, random })
    logger.error('mirror partitions failed', { topic: this.id.mirrorTopic, partitions, ...failure })
    while (!signal.aborted) {
      try {
        return await changes.fail(
          this.id,
          partitions.map(partition => ({ partition, ...failure })),
        )
      } catch (error) {
        for (const partition of partitions) {
          const figures = this.#partitions[partition]?.figures
          if (figures) figures.trouble = `${failure.reason}; this could not be recorded: ${messageOf(error)}`
        }
        logger.warn('a failure could not be recorded', { topic: this.id.mirrorTopic, error: messageOf(error) })
        await sleep(clock, backoff.nextMs(), signal)
      }
    }
  }

  /** Counted, and kept in the mirror's history. */
  async #incident(kind: IncidentKind, message: string): Promise<void> {
    const { incidents, changes, clock } = this.#o
    incidents.count(kind)
    const timeMs = clock.nowMs()
    await changes.note(this.id, record => withHistory(record, { event: kind, reason: message, timeMs }))
  }
}
