/** The link engine: replays the state topic, carries out operations and answers questions. Made by the composition root, used by REST. */
import { LinkConfigs } from './configs/link-configs.ts'
import { MirrorTopicConfigs } from './configs/mirror-topic-configs.ts'
import { coordinatorOnly } from './coordination/coordinator-only.ts'
import { Coordinatorship } from './coordination/coordinatorship.ts'
import { KeyedQueues } from './coordination/keyed-queues.ts'
import { LinkChanges } from './coordination/link-changes.ts'
import { MirrorChanges, type MirrorId } from './coordination/mirror-changes.ts'
import { secretKeyObstacle } from './coordination/secret-key-obstacle.ts'
import { StateJournal } from './coordination/state-journal.ts'
import type * as api from './engine-api.ts'
import type { EngineOptions } from './engine-options.ts'
import { linkError } from './errors.ts'
import { LinkEvents } from './events/link-events.ts'
import { MirrorFences } from './fence/mirror-fences.ts'
import { IncidentCounts } from './mirror/incident-counts.ts'
import { PeerNodes } from './nodes/peer-nodes.ts'
import { PeerService } from './nodes/peer-service.ts'
import { acceptProposal } from './operations/accept-proposal.ts'
import { adoptGroup } from './operations/adopt-group.ts'
import { adoptPeerId } from './operations/adopt-peer-id.ts'
import { alterLinkConfigs } from './operations/alter-link-configs.ts'
import { alterMirrors } from './operations/alter-mirrors.ts'
import { preflightLink } from './operations/check-link.ts'
import { createDiscoveredMirror } from './operations/create-discovered-mirror.ts'
import { type CreateLinkOptions, createLink } from './operations/create-link.ts'
import { createMirror } from './operations/create-mirror.ts'
import { deleteLink } from './operations/delete-link.ts'
import { type OperationContext, requireLink } from './operations/operation-context.ts'
import { runTask } from './operations/run-task.ts'
import { sourceTopics } from './operations/source-topics.ts'
import { NotLinkCoordinator, type StateRecord, type WriteStatus } from './ports.ts'
import { DesiredState } from './replay/desired-state.ts'
import { Reconciler } from './runtime/reconciler.ts'
import { decodeStateRecord } from './state-records/record-codec.ts'
import { KnownChains } from './status/known-chains.ts'
import { StatusPublisher } from './status/status-publisher.ts'
import { Verifications } from './verification/verifications.ts'
import { ownedAclViews } from './views/acl-view.ts'
import { groupOffsetViews } from './views/group-view.ts'
import { lagViews } from './views/lag-view.ts'
import { linkView } from './views/link-view.ts'
import { historyView, mirrorView, mirrorViews } from './views/mirror-view.ts'
import { writeStatus } from './views/write-status.ts'

export class Engine implements api.LinkEngine {
  readonly #o: EngineOptions
  readonly #desired = new DesiredState()
  readonly #context: OperationContext
  readonly #reconciler: Reconciler
  readonly verifications: Verifications
  readonly topics = sourceTopics(() => this.#readable())
  readonly statusIsDue = () => this.#publisher?.isDue ?? false
  readonly events: LinkEvents
  readonly #publisher: StatusPublisher | undefined
  readonly fences: MirrorFences
  /** For the link coordinator on another node. */
  readonly peerService: PeerService
  readonly #coordinatorship: Coordinatorship
  #unsubscribe: (() => void) | undefined

  constructor(options: EngineOptions) {
    this.#o = options
    const { stateLog, statusLog, sources, secrets, tailExports, clock, random, logger } = options
    const destination = coordinatorOnly(options.destination, () => this.ready)
    const desired = this.#desired
    const keyId = stateLog.leadership && secrets?.keyId
    const journal = new StateJournal(stateLog, () => this.ready && this.#reconciler.retry(), keyId)
    const changes = new MirrorChanges({ desired, journal, clock })
    this.#context = {
      desired,
      journal,
      changes,
      linkChanges: new LinkChanges({ desired, journal }),
      destination,
      topicConfigs: new MirrorTopicConfigs({ desired, changes, destination }),
      ...{ sources, secrets, clock, random, tailExports },
      incidents: new IncidentCounts(),
      chains: new KnownChains(),
      logger: logger.child({ component: 'link' }),
      operations: new KeyedQueues(),
      createDiscovered: (linkId, discovered, signal) =>
        createDiscoveredMirror(this.#context, { linkId, discovered }, signal),
      adoptPeerId: (linkId, peerId) => adoptPeerId(this.#context, linkId, peerId),
      runtime: linkId => this.#reconciler.runtime(linkId),
      reconcile: () => this.#reconciler.run(),
      reverseTransactionWaitMs: options.reverseTransactionWaitMs ?? 60_000,
      coordinates: () => this.ready,
      peers: new PeerNodes({ ...options, position: () => stateLog.leadership?.position ?? 0 }),
      undisturbed: () => this.#coordinatorship.undisturbed(),
      published: async () => await this.#publisher?.published(),
    }
    this.#reconciler = new Reconciler(this.#context)
    this.verifications = new Verifications(this.#context)
    this.events = new LinkEvents(this.#context)
    this.fences = new MirrorFences(this.#context, () => this.#coordinatorship.isReplayed)
    this.peerService = new PeerService({ context: this.#context, leadership: stateLog.leadership })
    this.#publisher = statusLog && new StatusPublisher({ ...this.#context, log: statusLog })
    this.#coordinatorship = new Coordinatorship({
      ...this.#context,
      stateLog,
      obstacle: () => stateLog.leadership && secretKeyObstacle(desired, secrets),
      onRecords: records => this.#onRecords(records),
      replayed: () => this.#replayed(),
      began: () => this.#began(),
      ended: () => this.#ended(),
    })
    stateLog.onProposal?.(proposal => acceptProposal(this.#context, proposal))
  }

  /**
   * Replays the state topic; mirrors continue and what was left half done is finished in the background. Where the state
   * topic cannot be used now, `ready` stays false and it is tried again.
   */
  async start(): Promise<void> {
    await this.#coordinatorship.start()
  }

  /** Stops fetching and waits for everything that was begun. */
  async stop(): Promise<void> {
    this.#o.peers?.close()
    await this.#coordinatorship.stop()
    this.#unsubscribe?.()
    this.events.stop()
    this.peerService.stop()
    await this.#context.peers.reports.stop()
    await this.verifications.stop()
    await this.fences.stop()
    await this.#reconciler.stop()
    await this.#publisher?.stop()
    await this.#context.operations.idle()
    await this.#context.changes.idle()
    await this.#context.linkChanges.idle()
    await this.#context.journal.idle()
    await this.#o.stateLog.close()
  }

  get ready(): boolean {
    return this.#coordinatorship.isHeld
  }

  get whyNotReady(): string {
    return this.#coordinatorship.whyNotHeld
  }

  get replayed(): boolean {
    return this.#coordinatorship.isReplayed
  }

  async createLink(request: api.CreateLinkRequest, options: CreateLinkOptions) {
    return this.#operate(context => createLink(context, request, options))
  }

  async preflightLink(request: api.CreateLinkRequest): Promise<api.LinkCheck[]> {
    return this.#operate(context => preflightLink(context, request))
  }

  listLinks(): api.LinkView[] {
    const context = this.#readable()
    const links = [...this.#desired.links()].sort((a, b) => (a.name < b.name ? -1 : 1))
    return links.map(link => linkView(context, link))
  }

  describeLink(name: string): api.LinkView {
    const link = this.#readable().desired.linkByName(name)
    if (!link) throw linkError('LINK_NOT_FOUND', { link: name })
    return linkView(this.#context, link)
  }

  describeLinkConfigs(name: string): api.LinkConfigView[] {
    return new LinkConfigs(requireLink(this.#readable(), name).configs).views()
  }

  async alterLinkConfigs(link: string, changes: readonly api.LinkConfigChange[], options: { validateOnly: boolean }) {
    return this.#operate(context => alterLinkConfigs(context, { link, changes }, options))
  }

  async deleteLink(name: string, options: { force: boolean; validateOnly: boolean }): Promise<api.DeleteLinkReport> {
    return this.#operate(context => deleteLink(context, name, options))
  }

  async createMirror(
    link: string,
    request: api.CreateMirrorRequest,
    options: { validateOnly: boolean } = { validateOnly: false },
  ): Promise<{ readonly warnings: readonly string[] }> {
    return this.#operate(context => createMirror(context, { link, request }, options))
  }

  listMirrors(filter: { link: string | undefined; status: string | undefined }): api.MirrorView[] {
    const context = this.#readable()
    const { link, status } = filter
    const linkId = link === undefined ? undefined : requireLink(context, link).linkId
    return mirrorViews(context, { linkId, status })
  }

  describeMirror(link: string, topic: string): api.MirrorView {
    const context = this.#readable()
    const { linkId } = requireLink(context, link)
    return mirrorView(context, context.changes.current({ linkId, mirrorTopic: topic }))
  }

  describeHistory(link: string, topic: string): api.MirrorHistoryEntry[] {
    const context = this.#readable()
    const { linkId } = requireLink(context, link)
    return historyView(context.changes.current({ linkId, mirrorTopic: topic }))
  }

  async alterMirrors(
    link: string,
    verb: api.MirrorVerb,
    options: Parameters<api.LinkEngine['alterMirrors']>[2],
  ): Promise<api.AlterMirrorRow[]> {
    const request = { link, verb, together: false, ...options }
    return this.#operate(context => alterMirrors(context, request, id => this.#lagsOf(id)))
  }

  listGroupOffsets(link: string): api.GroupOffsetView[] {
    return groupOffsetViews(this.#readable(), link)
  }

  async adoptGroup(link: string, group: string): Promise<number> {
    return this.#operate(context => adoptGroup(context, link, group))
  }

  listOwnedAcls(link: string): api.OwnedAclView[] {
    return ownedAclViews(this.#readable(), link)
  }

  runTask(link: string, name: string): void {
    runTask(this.#readable(), link, name)
  }

  /** May ordinary clients write this topic? Asked for every write; answers from memory. */
  writeStatus(topicId: string, topic: string): WriteStatus {
    return writeStatus({ desired: this.#desired, replayed: this.replayed }, { topicId, topic })
  }

  incidentCounts(): ReadonlyMap<string, number> {
    return this.#context.incidents.all()
  }

  #lagsOf(id: MirrorId): readonly api.MirrorLagView[] {
    const record = this.#desired.mirror(id.linkId, id.mirrorTopic)
    return record ? lagViews(this.#context, record) : []
  }

  #readable(): OperationContext {
    if (!this.replayed) throw linkError('COORDINATOR_NOT_AVAILABLE', { reason: this.whyNotReady })
    return this.#context
  }

  /** What is decided while another coordinator takes over is not written: that is for the caller to try again. */
  async #operate<T>(operation: (context: OperationContext) => Promise<T>): Promise<T> {
    if (!this.ready) throw linkError('COORDINATOR_NOT_AVAILABLE', { reason: this.whyNotReady })
    try {
      return await operation(this.#context)
    } catch (error) {
      if (!(error instanceof NotLinkCoordinator)) throw error
      throw linkError('COORDINATOR_NOT_AVAILABLE', { reason: error.message })
    }
  }

  #onRecords(records: readonly StateRecord[]): void {
    let matters = false
    for (const record of records) {
      const change = decodeStateRecord(record)
      this.events.telling(change, () => this.#desired.apply(change))
      if (change.kind === 'unreadable' || change.kind === 'garbage')
        this.#context.logger.error('a state record cannot be read', { reason: change.reason })
      // Epoch records are frequent, and nothing follows from them.
      if (change.kind !== 'source-epochs' && change.kind !== 'coordinator') matters = true
    }
    if (!matters || !this.#unsubscribe) return
    void this.#reconciler.run()
    if (this.ready) this.#publisher?.changed()
  }

  /** Partitions that this node leads are mirrored from here on, whoever is the link coordinator. */
  #replayed(): void {
    this.#unsubscribe = this.#o.destination.onTopicsChanged(() => void this.#reconciler.run())
    void this.#reconciler.run()
  }

  #began(): void {
    void this.#reconciler.run()
    this.#publisher?.start()
    this.#context.peers.reports.start()
    this.events.start()
    this.fences.start()
  }

  #ended(): void {
    this.#publisher?.pause()
    void this.#context.peers.reports.stop()
    void this.verifications.stop()
    void this.fences.stop()
    void this.#reconciler.run()
  }
}
