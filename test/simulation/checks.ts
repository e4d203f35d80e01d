/** What must hold after every step of the simulation, and what more must hold when everything has healed. Violations are thrown. */
import type { Uuid } from '../../src/core/uuid.ts'
import { linkConfigRows } from '../../src/link/configs/link-config-rows.ts'
import type { FakePartition } from '../../src/link/fakes/fake-mirror-log.ts'
import { DesiredState } from '../../src/link/replay/desired-state.ts'
import type { MirrorRecord } from '../../src/link/state-records/mirror-record.ts'
import { decodeStateRecord } from '../../src/link/state-records/record-codec.ts'
import { type BatchHeader, isControl } from '../../src/protocol/batches/batch-header.ts'
import { linkOf } from './link-names.ts'
import { type LostRange, prefixProblem } from './prefix.ts'
import type { Promises } from './promises.ts'
import { publishedDifference } from './published.ts'
import { SourceLog } from './source-log.ts'
import type { SourceModel } from './source-model.ts'
import { syncProblem } from './sync-checks.ts'
import type { World } from './world.ts'

export class Violation extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Violation'
  }
}

function demand(condition: boolean, message: () => string): void {
  if (!condition) throw new Violation(message())
}

/** What no healing ends: the source is another one, or lost what it had. */
const lastingErrors: ReadonlySet<string> = new Set([
  'SOURCE_TOPIC_ID_CHANGED',
  'SOURCE_TOPIC_MAY_BE_DELETED',
  'UNEXPECTED_TRUNCATION',
])

export class Checks {
  readonly #world: World
  readonly #promises: Promises
  /** What is durable, by our own reading of the records. */
  readonly #durable = new DesiredState()
  #read = 0
  /** Losses that histories have ever declared, by topic id and partition. */
  readonly #lost = new Map<string, LostRange[]>()
  /** Topics that may be written: their stop was recorded properly. Log ends at that time. */
  readonly #stopped = new Map<Uuid, readonly number[]>()
  /** Stop points once recorded, as text. */
  readonly #stopPoints = new Map<Uuid, string>()

  constructor(world: World, promises: Promises) {
    this.#world = world
    this.#promises = promises
  }

  get mirrors(): MirrorRecord[] {
    return [...this.#durable.mirrors()]
  }

  afterStep(): void {
    const { stateRecords, cluster, witness } = this.#world
    for (; this.#read < stateRecords.length; this.#read++) {
      const record = stateRecords[this.#read]
      if (!record) continue
      const change = decodeStateRecord(record)
      demand(change.kind !== 'garbage' && change.kind !== 'unreadable', () => `a state record is ${change.kind}`)
      this.#durable.apply(change)
      if (change.kind === 'mirror') this.#recorded(change.record)
    }
    demand(witness.violations.length === 0, () => witness.violations.join('\n  '))
    for (const record of this.#durable.mirrors()) this.#checkMirror(record)
    for (const topic of cluster.topics.values()) this.#checkFence(topic)
    this.#checkPromises()
  }

  /** Everything works again and had time: mirrors that can go on are equal to their source. */
  atEnd(): void {
    this.afterStep()
    const difference = publishedDifference(this.#world.cluster.statusRecords, this.#durable)
    demand(difference === undefined, () => `what is published is not what the state says: ${difference}`)
    const problem = syncProblem(this.#world, this.#durable)
    demand(problem === undefined, () => problem ?? '')
    for (const record of this.#durable.mirrors()) {
      demand(record.state === 'STOPPED' || !record.stopping, () => `${record.mirrorTopic} is still being stopped`)
      const refusal = this.#promises.cannotResume.get(record.mirrorTopic)
      for (const { partition, error, reason } of record.state === 'FAILED' && refusal === undefined
        ? record.failures
        : []) {
        const source = this.#sourceOf(record).everyTopic.get(record.sourceTopicId)?.partitions[partition]
        // Retention can hide an unclean election: the mirror ends in the middle of a batch of the later history.
        const isHidden = error === 'UNALIGNED_BATCH' && (source?.histories.length ?? 1) > 1
        const isRight = lastingErrors.has(error) || isHidden
        demand(isRight, () => `${record.mirrorTopic} stays FAILED: ${reason}\n  ${history(record)}`)
      }
      if (record.state !== 'ACTIVE') continue
      const source = this.#sourceOf(record).topics.get(record.sourceTopic)
      if (source?.topicId !== record.sourceTopicId) continue
      demand(source.partitions.length === record.startOffsets.length, () => `${record.mirrorTopic} has not grown`)
      for (const [partition, log] of this.#logsOf(record).entries()) {
        const theirs = source.partitions[partition]
        // Behind its last batch a source may have a hole that no fetch tells of.
        const end = (theirs?.batches.at(-1)?.header.lastOffset ?? -1) + 1
        const isEqual = log.logEndOffset >= end && log.logEndOffset <= (theirs?.highWatermark ?? -1)
        demand(isEqual, () => {
          const where = `${record.mirrorTopic}-${partition} ends at ${log.logEndOffset}, its source at ${end}`
          return `${where}\n${comparison(log, theirs ?? new SourceLog())}\n  ${history(record)}`
        })
        // What is below was held against all histories; the end can only be that of the present one.
        const [ours, present] = [log.batches.at(-1)?.header, theirs?.batches.at(-1)?.header]
        const isSame =
          ours?.crc === present?.crc ||
          (present?.lastOffset ?? -1) < Math.max(log.logStartOffset, theirs?.logStartOffset ?? 0)
        demand(isSame, () => `${record.mirrorTopic}-${partition} ends with another batch than its source`)
      }
    }
  }

  #recorded(record: MirrorRecord): void {
    for (const { event, reason } of record.history) {
      const found = event === 'out_of_range' ? /partition (\d+): .* offsets (\d+) to (\d+) /.exec(reason) : null
      if (!found) continue
      const key = `${record.topicId}-${found[1]}`
      const known = this.#lost.get(key) ?? []
      const range = { from: Number(found[2]), to: Number(found[3]) }
      if (!known.some(other => other.from === range.from && other.to === range.to))
        this.#lost.set(key, [...known, range])
    }
    const points = record.stopPoints
      .map(point => `${point.partition}:${point.stopOffset}:${point.lastSourceEpoch}`)
      .join()
    const before = this.#stopPoints.get(record.topicId)
    if (before !== undefined)
      demand(before === points, () => `stop points of ${record.mirrorTopic} changed from ${before} to ${points}`)
    if (points !== '') this.#stopPoints.set(record.topicId, points)
    if (record.state === 'STOPPED' && !this.#stopped.has(record.topicId)) this.#checkStop(record)
  }

  /** STOPPED became durable just now, or a moment ago. */
  #checkStop(record: MirrorRecord): void {
    const logs = this.#logsOf(record)
    const name = record.mirrorTopic
    demand(this.#wasAskedFor(record), () => `${name} was stopped and nobody had asked for it\n  ${history(record)}`)
    for (const [partition, log] of logs.entries()) {
      const point = record.stopPoints[partition]
      demand(log.flushedOffset >= log.logEndOffset, () => `${name}-${partition} is STOPPED with unflushed data`)
      demand(log.openTransactions().length === 0, () => `${name}-${partition} is STOPPED with open transactions`)
      demand(log.leaderEpoch > 0, () => `${name}-${partition} is STOPPED in its old leader epoch`)
      const dataEnd = log.logEndOffset - (point?.openTransactions ?? 0)
      demand(
        point?.stopOffset === dataEnd,
        () => `${name}-${partition} stopped at ${point?.stopOffset}, its data ends at ${dataEnd}`,
      )
      for (const { header } of log.batches)
        demand(
          header.producerId <= this.#world.cluster.producerIdFloor,
          () => `${name}-${partition}: no producer id barrier`,
        )
    }
    this.#stopped.set(
      record.topicId,
      logs.map(log => log.logEndOffset),
    )
  }

  #wasAskedFor(record: MirrorRecord): boolean {
    if (record.history.at(-1)?.event === 'caughtUp') return this.#promises.promoting.has(record.topicId)
    return (
      this.#promises.failingOver.has(record.topicId) || this.#durable.link(record.linkId)?.deletingSinceMs !== undefined
    )
  }

  #checkMirror(record: MirrorRecord): void {
    for (const [partition, log] of this.#logsOf(record).entries()) {
      const name = `${record.mirrorTopic}-${partition}`
      const source = this.#sourceOf(record).everyTopic.get(record.sourceTopicId)?.partitions[partition]
      if (!source) continue
      const problem = prefixProblem(
        this.#mirrored(record, partition, log),
        source.histories,
        this.#lostOf(record, partition),
      )
      demand(problem === undefined, () => `${name}: ${problem}\n${comparison(log, source)}\n  ${history(record)}`)
      const allowed = Math.max(source.highestLogStart, record.startOffsets[partition] ?? 0)
      demand(
        log.logStartOffset <= allowed,
        () => `${name} starts at ${log.logStartOffset}, its source never above ${allowed}`,
      )
    }
    const ends = this.#stopped.get(record.topicId)
    if (!ends) return
    const now = this.#logsOf(record).map(log => log.logEndOffset)
    demand(
      now.every((end, partition) => end === ends[partition]),
      () => `${record.mirrorTopic} moved after it was STOPPED`,
    )
  }

  /** Every topic here was made to be a mirror. */
  #checkFence({ topicId, name }: { topicId: Uuid; name: string }): void {
    const { kind } = this.#world.engine.writeStatus(topicId, name)
    demand(
      kind !== 'writable' || this.#stopped.has(topicId),
      () => `${name} (${topicId}) can be written before its time`,
    )
  }

  #checkPromises(): void {
    const { links, mirrors, configs } = this.#promises
    for (const [name, acknowledged] of links) {
      const isThere = this.#durable.linkByName(name) !== undefined
      demand(
        isThere === (acknowledged === 'created'),
        () => `link ${name} was ${acknowledged}; is it there: ${isThere}`,
      )
    }
    const west = this.#durable.linkByName('west')
    for (const [key, value] of configs) {
      const now = west?.configs.get(key) ?? String(linkConfigRows[key as keyof typeof linkConfigRows].default)
      demand(now === value, () => `the acknowledged property ${key}=${value} is ${now}`)
    }
    for (const [topic, acknowledged] of mirrors) {
      const link = this.#durable.linkByName(linkOf(topic))
      const record = link && this.#durable.mirror(link.linkId, topic)
      const right = {
        created: ['ACTIVE', 'FAILED'],
        promoted: ['PENDING_STOPPED', 'STOPPED', 'FAILED'],
        paused: ['PAUSED', 'FAILED'],
        resumed: ['ACTIVE', 'PAUSED', 'FAILED'],
        stopped: ['STOPPED'],
      }[acknowledged]
      demand(
        record !== undefined && right.includes(record.state),
        () => `${topic} was ${acknowledged} and is ${record?.state}\n  ${record && history(record)}`,
      )
    }
  }

  #sourceOf({ sourceClusterId }: MirrorRecord): SourceModel {
    return this.#world.modelOf(sourceClusterId)
  }

  #logsOf(record: MirrorRecord): FakePartition[] {
    return this.#world.cluster.topics.get(record.topicId)?.logs.slice(0, record.startOffsets.length) ?? []
  }

  #lostOf(record: MirrorRecord, partition: number): readonly LostRange[] {
    return this.#lost.get(`${record.topicId}-${partition}`) ?? []
  }

  /** Without the markers that a stop of ours appended. */
  #mirrored(record: MirrorRecord, partition: number, log: FakePartition) {
    const stopOffset = record.stopPoints[partition]?.stopOffset ?? Number.POSITIVE_INFINITY
    const batches = log.batches.filter(({ header }) => header.baseOffset < stopOffset || !isControl(header))
    const startOffset = record.startOffsets[partition] ?? 0
    return {
      logStartOffset: log.logStartOffset,
      logEndOffset: Math.min(log.logEndOffset, stopOffset),
      batches,
      startOffset: log.logEndOffset === 0 ? 0 : startOffset,
    }
  }
}

/** Both logs in a line each, for reports. */
function comparison(log: FakePartition, source: SourceLog): string {
  const text = (batches: readonly { header: BatchHeader }[]) =>
    batches.map(({ header }) => `${header.baseOffset}-${header.lastOffset}@${header.leaderEpoch}`).join(' ')
  const histories = source.histories
    .map(found => `  source (from ${found.deletedBelow}) ${text(found.batches)}`)
    .join('\n')
  return `  mirror from ${log.logStartOffset} to ${log.logEndOffset}: ${text(log.batches)}\n${histories}`
}

const history = (record: MirrorRecord): string =>
  record.history.map(({ event, reason }) => `${event}: ${reason}`).join('\n  ')
