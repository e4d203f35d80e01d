/** Stand-ins for the engine and the ports of REST, used by the tests of routes and of the command line. */
import { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { randomUuid, type Uuid } from '../../core/uuid.ts'
import type {
  AlterMirrorRow,
  CreateLinkRequest,
  CreateMirrorRequest,
  GroupOffsetView,
  LinkCheck,
  LinkConfigChange,
  LinkEngine,
  LinkView,
  MirrorHistoryEntry,
  MirrorSelection,
  MirrorVerb,
  MirrorView,
  OwnedAclView,
} from '../../link/engine-api.ts'
import { EventLog } from '../../link/events/event-log.ts'
import type { RestContext } from '../context.ts'
import { noLogin, openAccess } from '../ports.ts'
import { fakeAcls, fakeCluster, fakeGroups, fakeNodes } from './fake-cluster.ts'
import { fakePlacement } from './fake-placement.ts'
import { FakeSourceTopics } from './fake-source-topics.ts'
import { FakeVerifications } from './fake-verifications.ts'

export const FAKE_CLUSTER_ID = '4L6g3nShT-eMCtK--X86sw'

/** Remembers what it was asked and answers from its fields. */
export class FakeEngine implements LinkEngine {
  ready = true
  whyNotReady = 'the link state is being replayed'
  replayed = true
  statusIsDue = () => false
  links: LinkView[] = []
  mirrors: MirrorView[] = []
  rows: AlterMirrorRow[] = []
  groupOffsets: GroupOffsetView[] = []
  readonly verifications = new FakeVerifications()
  readonly topics = new FakeSourceTopics()
  readonly events = new EventLog('run', new ManualClock())
  /** Thrown by the next call that changes something. */
  failure: Error | undefined
  checks: LinkCheck[] = []
  readonly calls: { method: string; arguments: unknown[] }[] = []

  async createLink(request: CreateLinkRequest, options: { validateOnly: boolean; validateLink: boolean }) {
    this.#record('createLink', request, options)
    const linkId = randomUuid()
    if (!options.validateOnly) this.links.push(fakeLink(request.name, linkId))
    return { linkId, warnings: [] }
  }

  async preflightLink(request: CreateLinkRequest) {
    this.#record('preflightLink', request)
    return this.checks
  }

  listLinks(): LinkView[] {
    return this.links
  }

  describeLink(name: string): LinkView {
    const found = this.links.find(link => link.name === name)
    if (!found) throw this.failure ?? new Error(`no link ${name}`)
    return found
  }

  describeLinkConfigs(name: string) {
    this.describeLink(name)
    const shared = { isDefault: false, isReadOnly: false, defaultValue: null, allowed: null }
    return [
      {
        ...{ ...shared, name: 'bootstrap.servers', value: '127.0.0.1:9092', isSensitive: false },
        ...{ type: 'list', documentation: 'Addresses of the remote cluster.' },
      },
      {
        ...{ ...shared, name: 'sasl.jaas.config', value: 'secret', isSensitive: true },
        ...{ type: 'password', documentation: 'Login.' },
      },
    ]
  }

  async alterLinkConfigs(name: string, changes: readonly LinkConfigChange[], options: { validateOnly: boolean }) {
    this.#record('alterLinkConfigs', name, changes, options)
    const isOff = changes.some(({ name: key, value }) => key === 'acl.sync.enable' && value === 'false')
    return { warnings: [], cleared: isOff ? ['acl.filters'] : [] }
  }

  async deleteLink(name: string, options: { force: boolean; validateOnly: boolean }) {
    this.#record('deleteLink', name, options)
    return { failedOver: options.force ? ['orders'] : [], warnings: [] }
  }

  async createMirror(link: string, request: CreateMirrorRequest) {
    this.#record('createMirror', link, request)
    return { warnings: [] }
  }

  listMirrors(filter: { link: string | undefined; status: string | undefined }): MirrorView[] {
    return this.mirrors.filter(
      mirror =>
        (filter.link ?? mirror.linkName) === mirror.linkName && (filter.status ?? mirror.status) === mirror.status,
    )
  }

  describeMirror(link: string, topic: string): MirrorView {
    const found = this.mirrors.find(mirror => mirror.linkName === link && mirror.mirrorTopicName === topic)
    if (!found) throw this.failure ?? new Error(`no mirror ${topic}`)
    return found
  }

  describeHistory(link: string, topic: string): MirrorHistoryEntry[] {
    this.describeMirror(link, topic)
    return [
      { timeMs: 2000, state: 'PAUSED', previousState: 'ACTIVE', event: 'pause', reason: 'asked for' },
      { timeMs: 1000, state: 'ACTIVE', previousState: null, event: 'create', reason: 'created' },
    ]
  }

  listGroupOffsets(link: string): GroupOffsetView[] {
    this.describeLink(link)
    return this.groupOffsets
  }

  async adoptGroup(link: string, group: string): Promise<number> {
    this.#record('adoptGroup', link, group)
    return 2
  }

  listOwnedAcls(link: string): OwnedAclView[] {
    this.describeLink(link)
    const resource = { resourceType: 'TOPIC', resourceName: 'orders', patternType: 'LITERAL' }
    return [{ ...resource, principal: 'User:app', host: '*', operation: 'READ', permission: 'ALLOW', hasLogin: false }]
  }

  runTask(link: string, task: string): void {
    this.#record('runTask', link, task)
  }

  incidentCounts(): ReadonlyMap<string, number> {
    return new Map([['truncation', 2]])
  }

  async alterMirrors(link: string, verb: MirrorVerb, request: { selection: MirrorSelection; validateOnly: boolean }) {
    this.#record('alterMirrors', link, verb, request)
    return this.rows
  }

  #record(method: string, ...args: unknown[]): void {
    this.calls.push({ method, arguments: args })
    const { failure } = this
    this.failure = undefined
    if (failure) throw failure
  }
}

export function fakeLink(name: string, linkId: Uuid): LinkView {
  return {
    name,
    linkId,
    mode: 'DESTINATION',
    sourceClusterId: 'source-cluster',
    destinationClusterId: null,
    remoteClusterId: null,
    topicNames: ['orders'],
    state: 'ACTIVE',
    error: 'NO_ERROR',
    errorMessage: null,
    errorSinceMs: null,
    heldBackMs: 0,
    ...{
      lagMax: 5,
      lagMsMax: 1200,
      mirroredBytes: 8192,
      groupOffsets: { synced: 3, skipped: new Map([['IN_USE', 2]]) },
      ownedAcls: 4,
    },
    categoryCounts: [{ category: 'ACTIVE', count: 2 }],
    mirrorCounts: [{ status: 'ACTIVE', count: 1 }],
    troubledMirrors: 0,
    tasks: [{ name: 'AclSync', state: 'NOT_CONFIGURED', errors: [], lastSuccessMs: null, reason: 'off' }],
  }
}

export function fakeMirror(topic: string, change: Partial<MirrorView> = {}): MirrorView {
  return {
    linkName: 'west',
    mirrorTopicName: topic,
    sourceTopicName: topic,
    numPartitions: 2,
    lags: [fakeLag(0, 5), fakeLag(1, 0)],
    status: 'ACTIVE',
    error: 'NO_ERROR',
    reason: null,
    held: false,
    stateTimeMs: 1_700_000_000_000,
    lagMs: 12,
    allowedActions: ['pause', 'promote', 'failover', 'delete'],
    stateTransitionErrors: [],
    stopPoints: [],
    reversal: null,
    ...change,
  }
}

function fakeLag(partition: number, lag: number): MirrorView['lags'][number] {
  return {
    partition,
    lag,
    lagMs: 12,
    lastSourceFetchOffset: 100,
    logStartOffset: 0,
    logEndOffset: 100,
    sourceHighWatermark: 100 + lag,
    sourceLastStableOffset: 100 + lag,
    stableLag: lag,
    mirroredBytes: 4096,
    mirroredBatches: 3,
    lastFetchTimeMs: 1_700_000_000_000,
    state: 'ACTIVE',
    reason: null,
    isLedHere: true,
  }
}

/** A complete context around `engine`; parts can be replaced. */
export function fakeContext(engine: FakeEngine, change: Partial<RestContext> = {}): RestContext {
  return {
    engine,
    cluster: fakeCluster(FAKE_CLUSTER_ID),
    groups: fakeGroups(),
    acls: fakeAcls(),
    nodes: fakeNodes(),
    placement: fakePlacement(),
    login: noLogin,
    access: openAccess,
    health: { notReadyReasons: () => (engine.ready ? [] : ['the link state is being replayed']) },
    metrics: [],
    page: undefined,
    version: '0.0.0-test',
    logger: silentLogger,
    ...change,
  }
}
