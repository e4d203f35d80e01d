/** What runs for one link on this node: the connection to its source, the probe and the mirrors. Driven by the reconciler. */
import { SerialQueue } from '../../core/serial-queue.ts'
import type { Uuid } from '../../core/uuid.ts'
import { connectionSettings } from '../configs/connection-settings.ts'
import { LinkConfigs } from '../configs/link-configs.ts'
import { logStartFollowsSource } from '../configs/topic-rules.ts'
import { SyncWrites } from '../coordination/sync-writes.ts'
import { GroupSyncStates } from '../groups/group-sync-states.ts'
import type { MirrorSettings } from '../mirror/mirror-partition.ts'
import { MirrorTopic } from '../mirror/mirror-topic.ts'
import { type SourceCluster, SourceError } from '../ports.ts'
import { AutoCreation } from '../source-topics/auto-creation.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { healthyLink, type LinkHealth } from '../states/link-health.ts'
import { followsSource } from '../states/mirror-topic-state.ts'
import { SourceStatus } from '../status/source-status.ts'
import type { SyncTask } from '../tasks/sync-task.ts'
import { stallMsOf } from '../tasks/watchdog.ts'
import type { EngineParts } from './engine-parts.ts'
import { LinkProbe } from './link-probe.ts'
import { linkTasks, type TaskedLink } from './link-tasks.ts'

export class LinkRuntime {
  readonly linkId: Uuid
  readonly #parts: EngineParts
  readonly #onChange: () => void
  readonly #queue = new SerialQueue()
  readonly #mirrors = new Map<string, MirrorTopic>()
  #configs: LinkConfigs
  #mirrorSettings: MirrorSettings
  #connection:
    | { readonly text: string; readonly source: SourceCluster; readonly status: SourceStatus; readonly stallMs: number }
    | undefined
  #probe: LinkProbe | undefined
  #tasks: readonly SyncTask[] = []
  /** Mirrors that are not fetched while a promote looks at them. */
  readonly #withheld = new Set<string>()
  /** Kept over connections: what was synced stays known. */
  readonly groupStates = new GroupSyncStates()
  readonly autoCreation = new AutoCreation()
  readonly #writes = new SyncWrites()
  #heldBackBeforeMs = 0
  /** This node was the link coordinator in the last round. */
  #coordinated = false
  #closed = false

  constructor(link: LinkRecord, parts: EngineParts, onChange: () => void) {
    this.linkId = link.linkId
    this.#parts = { ...parts, logger: parts.logger.child({ link: link.name }) }
    this.#onChange = onChange
    this.#configs = new LinkConfigs(link.configs)
    this.#mirrorSettings = mirrorSettingsOf(this.#configs)
  }

  get configs(): LinkConfigs {
    return this.#configs
  }

  get health(): LinkHealth {
    return this.#probe?.health ?? healthyLink
  }

  /** The connection to the remote cluster. */
  get source(): SourceCluster | undefined {
    return this.#connection?.source
  }

  /** What the remote cluster publishes of its own mirrors. */
  get status(): SourceStatus | undefined {
    return this.#connection?.status
  }

  /** How long fetches were held back by throttles since the link was started here; those of all connections added up. */
  get heldBackMs(): number {
    return this.#heldBackBeforeMs + (this.#connection?.source.fetcher.heldBackMs ?? 0)
  }

  /** Sync tasks that run, by name. */
  task(name: string): SyncTask | undefined {
    return this.#tasks.find(task => task.name === name)
  }

  mirror(mirrorTopic: string): MirrorTopic | undefined {
    return this.#mirrors.get(mirrorTopic)
  }

  /** Drives what runs to what the records say; resolves when that is reached. Never waits for the source. */
  apply(link: LinkRecord, mirrors: readonly MirrorRecord[]): Promise<void> {
    return this.#queue.run(async () => {
      if (this.#closed) return
      await this.#connect(link)
      this.#coordinate()
      await this.#applyMirrors(mirrors)
    })
  }

  /** Stops fetching one mirror; after it resolves nothing is appended to it any more. */
  stopFetching(mirrorTopic: string): Promise<void> {
    return this.#queue.run(async () => this.#mirrors.get(mirrorTopic)?.stop())
  }

  /** Is that mirror to be fetched, by what is known of it now? */
  fetches(mirrorTopic: string, topicId: Uuid): boolean {
    const record = this.#parts.desired.mirror(this.linkId, mirrorTopic)
    return record?.topicId === topicId && record.state !== 'STOPPED' && this.#shouldFetch(record)
  }

  /** Nothing of this mirror is fetched here from when it resolves until the function is called. Not through the queue: a task that holds may be waited for by what runs in it. */
  async holdFetching(mirrorTopic: string): Promise<() => void> {
    const release = () => {
      this.#withheld.delete(mirrorTopic)
      this.#onChange()
    }
    this.#withheld.add(mirrorTopic)
    try {
      await this.#mirrors.get(mirrorTopic)?.stop()
    } catch (error) {
      release()
      throw error
    }
    return release
  }

  /** What syncs have begun to write has ended when it resolves; asks no source. */
  async syncsSettled(): Promise<void> {
    await this.#writes.settled()
    await this.groupStates.turns.idle()
  }

  /** Stops everything and waits for it. */
  close(): Promise<void> {
    return this.#queue.run(async () => {
      this.#closed = true
      await this.#disconnect()
    })
  }

  /** Tasks of the link coordinator begin as soon as this node is it. */
  #coordinate(): void {
    const isCoordinator = this.#parts.coordinates()
    if (isCoordinator && !this.#coordinated) for (const task of this.#tasks) task.start()
    this.#coordinated = isCoordinator
  }

  /** Connects, or connects anew when settings of the connection changed; mirrors continue where they were. */
  async #connect(link: LinkRecord): Promise<void> {
    if (link.configs !== this.#configs.overrides) {
      this.#configs = new LinkConfigs(link.configs)
      this.#mirrorSettings = mirrorSettingsOf(this.#configs)
      this.#probe?.settingsChanged()
      for (const task of this.#tasks) task.start()
    }
    const settings = connectionSettings(this.#configs, link)
    const text = JSON.stringify(settings)
    const bytesPerSecond = this.#configs.value('mirror.max.bytes.per.second')
    this.#connection?.source.fetcher.limitRate(bytesPerSecond)
    if (this.#connection?.text === text) return
    await this.#disconnect()
    const source = this.#parts.sources.open(settings, () => this.#probe?.soon())
    source.fetcher.limitRate(bytesPerSecond)
    const clusterId = () => this.#parts.desired.link(this.linkId)?.remoteClusterId
    const status = new SourceStatus({ source, clusterId, clock: this.#parts.clock })
    this.#connection = { text, source, status, stallMs: stallMsOf(settings) }
    this.#probe = new LinkProbe({
      source: () => source,
      topics: () => this.#followed().map(({ sourceTopic }) => sourceTopic),
      checkClusterId: clusterId => this.acceptClusterId(clusterId),
      onChange: health => {
        // What was created there meanwhile does not wait for the next period.
        if (health.state === 'ACTIVE') this.task('AutoCreateMirror')?.start()
        this.#onChange()
      },
      settings: () => ({
        periodMs: this.#configs.must('availability.check.ms'),
        threshold: this.#configs.must('availability.check.consecutive.failure.threshold'),
      }),
      clock: this.#parts.clock,
      random: this.#parts.random,
      logger: this.#parts.logger,
    })
    this.#probe.start()
    this.#tasks = linkTasks(this.#parts, this.#taskedLink(source, status))
    for (const task of this.#tasks) task.start()
  }

  #taskedLink(source: SourceCluster, status: SourceStatus): TaskedLink {
    const runtime = this
    return {
      linkId: this.linkId,
      source,
      status,
      groupStates: this.groupStates,
      autoCreation: this.autoCreation,
      writes: this.#writes,
      get configs() {
        return runtime.#configs
      },
      get health() {
        return runtime.health
      },
      get followed() {
        return runtime.#followed()
      },
      get running() {
        return runtime.#mirrors.values()
      },
      mirror: mirrorTopic => this.#mirrors.get(mirrorTopic),
      task: name => this.task(name),
      holdFetching: mirrorTopic => this.holdFetching(mirrorTopic),
    }
  }

  async #disconnect(): Promise<void> {
    await Promise.all([...this.#mirrors.values()].map(mirror => mirror.stop()))
    this.#mirrors.clear()
    // Tasks may wait for it.
    await this.#connection?.status.close()
    await Promise.all([this.#probe?.stop(), ...this.#tasks.map(task => task.stop())])
    this.#tasks = []
    await this.#connection?.source.close()
    this.#heldBackBeforeMs += this.#connection?.source.fetcher.heldBackMs ?? 0
    this.#connection = undefined
    this.#probe = undefined
  }

  async #applyMirrors(mirrors: readonly MirrorRecord[]): Promise<void> {
    const wanted = new Map(mirrors.map(record => [record.mirrorTopic, record]))
    for (const [name, running] of this.#mirrors) {
      const record = wanted.get(name)
      if (record?.topicId === running.topicId && record.state !== 'STOPPED') continue
      await running.stop()
      this.#mirrors.delete(name)
    }
    for (const record of mirrors) {
      if (record.state === 'STOPPED') continue
      const mirror = this.#mirrors.get(record.mirrorTopic) ?? this.#open(record)
      await mirror?.apply(record, this.#shouldFetch(record))
    }
  }

  #followed(): MirrorRecord[] {
    return this.#parts.desired.mirrorsOf(this.linkId).filter(record => this.#shouldFetch(record))
  }

  #shouldFetch(record: MirrorRecord): boolean {
    if (record.stopping !== undefined || record.held || this.#withheld.has(record.mirrorTopic)) return false
    if (this.#configs.must('cluster.link.paused')) return false
    // Another cluster answers at these addresses: nothing of it may get into a mirror.
    if (this.health.failure === 'cluster-id') return false
    return followsSource(record.state === 'FAILED' ? (record.failedFrom ?? 'ACTIVE') : record.state)
  }

  #open(record: MirrorRecord): MirrorTopic | undefined {
    if (!this.#connection) return undefined
    const { source, stallMs } = this.#connection
    const mirror = new MirrorTopic({
      ...this.#parts,
      record,
      source,
      stallMs,
      settings: () => this.#mirrorSettings,
    })
    this.#mirrors.set(record.mirrorTopic, mirror)
    return mirror
  }

  /** The first id that is read is pinned, durably; later any other is refused, with a SourceError. */
  async acceptClusterId(found: string): Promise<void> {
    const { desired, destination, linkChanges, logger } = this.#parts
    const link = desired.link(this.linkId)
    if (!link) return
    if (found === destination.clusterId)
      throw new SourceError('cluster-id', `the cluster at these addresses is this cluster itself (${found})`)
    if (link.remoteClusterId === undefined) {
      if (!this.#parts.coordinates())
        throw new SourceError('retriable', 'the link coordinator has not reached the remote cluster yet')
      logger.info('the id of the remote cluster is pinned', { remoteClusterId: found })
      await linkChanges.update(this.linkId, current => ({ ...current, remoteClusterId: found }))
    } else if (link.remoteClusterId !== found)
      throw new SourceError('cluster-id', `cluster ${found} answers, the link belongs to ${link.remoteClusterId}`)
  }
}

const mirrorSettingsOf = (configs: LinkConfigs): MirrorSettings => ({
  followLogStart: logStartFollowsSource(configs),
  truncationPolicy: configs.must('mirror.unclean.truncation.policy'),
  retryTimeoutMs: configs.must('cluster.link.retry.timeout.ms'),
})
