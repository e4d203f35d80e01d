/** What `__lockstep_status` has to hold, from what the state says; asked by the publisher. */
import type { Uuid } from '../../core/uuid.ts'
import { LinkConfigs } from '../configs/link-configs.ts'
import type { MirrorTopicConfigs } from '../configs/mirror-topic-configs.ts'
import type { Destination, StateRecord } from '../ports.ts'
import type { DesiredState } from '../replay/desired-state.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { stateKeyText } from '../state-records/state-key.ts'
import { isOrdinaryLog } from '../states/mirror-topic-state.ts'
import type { KnownChains } from './known-chains.ts'
import type { MirrorChain } from './source-chain.ts'
import {
  clusterStatusRecord,
  linkStatusRecord,
  mirrorStatusRecord,
  reversalStatusRecord,
  stopPointStatusRecord,
} from './status-codec.ts'
import {
  clusterStatusKey,
  linkStatusKey,
  mirrorStatusKey,
  reversalStatusKey,
  stopPointStatusKey,
} from './status-key.ts'
import type { LinkStatus, PublishedConfig } from './status-records.ts'

/** Topic configs that are published: those that a link may copy. Another one is as the cluster describes it. */
const publishedConfigs = [
  'cleanup.policy',
  'delete.retention.ms',
  'max.compaction.lag.ms',
  'max.message.bytes',
  'message.timestamp.after.max.ms',
  'message.timestamp.before.max.ms',
  'message.timestamp.difference.max.ms',
  'message.timestamp.type',
  'min.compaction.lag.ms',
  'retention.bytes',
  'retention.ms',
] as const

export interface WantedStatusParts {
  readonly desired: DesiredState
  readonly destination: Pick<Destination, 'clusterId'>
  readonly topicConfigs: Pick<MirrorTopicConfigs, 'of'>
  readonly chains: KnownChains
  /** What runs for the link here. */
  runtime(linkId: Uuid): { task(name: string): WhatTask | undefined } | undefined
}

interface WhatTask {
  readonly errors: readonly { readonly message: string }[]
}

/** Whoever is at the other end of a bidirectional link does not take back what this one writes. */
function syncedGroups({ mode, configs }: LinkRecord): string | undefined {
  if (mode !== 'BIDIRECTIONAL') return undefined
  return configs.get('consumer.offset.sync.enable') === 'true'
    ? (configs.get('consumer.offset.group.filters') ?? '')
    : ''
}

interface OfLink {
  readonly link: LinkRecord
  readonly problem: string | undefined
  readonly published: StateRecord
}

interface OfMirror {
  readonly record: MirrorRecord
  readonly linkName: string
  readonly chain: MirrorChain
  readonly records: ReadonlyMap<string, StateRecord>
}

/** Remembers what was encoded: of thousands of mirrors few change at a time. */
export class WantedStatus {
  readonly #parts: WantedStatusParts
  #ofLinks = new Map<Uuid, OfLink>()
  #ofMirrors = new Map<string, OfMirror>()

  constructor(parts: WantedStatusParts) {
    this.#parts = parts
  }

  /**
   * All records by their keys, the cluster's own last. With `lookAgain` also what may have changed without a record of the
   * state: topic configs.
   */
  records({ lookAgain }: { lookAgain: boolean }): Map<string, StateRecord> {
    const { desired, destination, chains } = this.#parts
    const wanted = new Map<string, StateRecord>()
    const ofLinks = new Map<Uuid, OfLink>()
    for (const link of desired.links()) {
      const known = this.#ofLinks.get(link.linkId)
      const problem = this.#parts.runtime(link.linkId)?.task('PeerCheck')?.errors[0]?.message
      const isSame = known?.link === link && known.problem === problem
      const published = isSame ? known.published : linkStatusRecord(linkStatus(link, problem))
      ofLinks.set(link.linkId, { link, problem, published })
      wanted.set(stateKeyText(linkStatusKey(link.linkId)), published)
    }
    this.#ofLinks = ofLinks
    const ofMirrors = new Map<string, OfMirror>()
    for (const record of desired.mirrors()) {
      const text = stateKeyText(mirrorStatusKey(record.linkId, record.mirrorTopic))
      const of = { record, linkName: desired.link(record.linkId)?.name ?? '', chain: chains.of(record) }
      const known = this.#ofMirrors.get(text)
      const isSame = known?.record === record && known.linkName === of.linkName && known.chain === of.chain
      const kept = isSame && !lookAgain ? known : { ...of, records: this.#encoded(of) }
      ofMirrors.set(text, kept)
      for (const [key, published] of kept.records) wanted.set(key, published)
    }
    this.#ofMirrors = ofMirrors
    if (lookAgain) chains.keep(desired.mirrors())
    const { clusterId } = destination
    return wanted.set(stateKeyText(clusterStatusKey), clusterStatusRecord({ clusterId, takesReverses: true }))
  }

  /** The mirror's own record and those of its stop points. */
  #encoded({ record, linkName, chain }: Omit<OfMirror, 'records'>): Map<string, StateRecord> {
    const { linkId, mirrorTopic, topicId, state, stateEpoch, stateTimeMs, startOffsets } = record
    const of = { linkId, mirrorTopic, topicId }
    const mirror = mirrorStatusRecord({
      ...of,
      linkName,
      state,
      stateEpoch,
      stateTimeMs,
      partitions: startOffsets.length,
      chain: chain.hops,
      chainEnd: chain.end,
      configs: state === 'STOPPED' ? [] : this.#configsOf(topicId),
    })
    const records = new Map([[stateKeyText(mirrorStatusKey(linkId, mirrorTopic)), mirror]])
    if (record.reversal) {
      const { request, paused, sealedOffsets, withdrawn, abortedTransactions, windowMs, hurried } = record.reversal
      const key = stateKeyText(reversalStatusKey(linkId, mirrorTopic))
      const walk = { request, paused, sealedOffsets, withdrawn, abortedTransactions, windowMs }
      const admitsWriters = isOrdinaryLog(state) && record.reversal.writers !== 'refused'
      const more = { admitsWriters, isHurried: hurried, reason: record.reason ?? '' }
      records.set(key, reversalStatusRecord({ ...of, stateEpoch, ...walk, ...more }))
    }
    const { sourceClusterId, sourceTopicId, stopPoints } = record
    for (const { partition, stopOffset, lastSourceEpoch, timeMs, ofSource } of stopPoints) {
      const sourceEpochs = this.#parts.desired.epochRanges(topicId, partition, sourceClusterId)
      const point = { ...of, partition, sourceClusterId, sourceTopicId, stopOffset, lastSourceEpoch, timeMs, ofSource }
      const key = stateKeyText(stopPointStatusKey(linkId, mirrorTopic, partition))
      records.set(key, stopPointStatusRecord({ ...point, sourceEpochs }))
    }
    return records
  }

  #configsOf(topicId: Uuid): PublishedConfig[] {
    return publishedConfigs.flatMap(name => {
      const config = this.#parts.topicConfigs.of(topicId, name)
      return config ? [{ name, value: config.value, overridden: config.overridden }] : []
    })
  }
}

function linkStatus(link: LinkRecord, problem: string | undefined): LinkStatus {
  const { linkId, name, mode, remoteClusterId, createdTimeMs, configs } = link
  const isPaused = new LinkConfigs(configs).must('cluster.link.paused')
  return { linkId, name, mode, remoteClusterId, createdTimeMs, groupFilters: syncedGroups(link), isPaused, problem }
}
