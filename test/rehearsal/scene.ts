// The scene of both rehearsals: a source that has been in use for a while, a link that has caught up with it, and clients that go on; used by migration and disaster.
import { ok, strictEqual } from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '../eventually.ts'
import type { KafkaVersion } from '../kafka/jars.ts'
import type { Deliveries } from './deliveries.ts'
import type { ClientPlace } from './group-clients.ts'
import {
  type PlannedGroups,
  type PlannedProducer,
  type PlannedTopic,
  planAcls,
  planGroups,
  planProducers,
  planTopics,
  type Size,
  seeding,
} from './plan.ts'
import { Producers, type Promised } from './producers.ts'
import { LINK, type Place, type RehearsalWorld, startRehearsalWorld } from './rehearsal-world.ts'
import { Notes, type Report } from './report.ts'

/** Which rehearsal, how large, of which source. */
export interface RehearsalOptions {
  readonly size: Size
  readonly source: KafkaVersion
  readonly seed: number
  /** In a disaster the Lockstep node is killed too, during the failover. */
  readonly nodeKill?: boolean
  /** Told what happens while it goes on. */
  readonly tell: (line: string) => void
}

/** Everything is running. */
export interface Scene {
  readonly world: RehearsalWorld
  readonly notes: Notes
  readonly options: RehearsalOptions
  readonly topics: readonly PlannedTopic[]
  readonly names: readonly string[]
  readonly groups: PlannedGroups
  readonly writers: readonly PlannedProducer[]
  readonly producers: Producers
  /** Log starts that were raised on purpose. */
  readonly starts: Readonly<Record<string, number>>
  /** What groups read that ended before the move. */
  readonly ended: Deliveries
}

/** Names of sessions: what was there before, the load, and what is written after the move. */
export const SESSIONS = { before: 'before', load: 'load', after: 'after' } as const

const TRIMMED = 'trimmed-000'

/** Starts clusters, sets the scene, lets `play` go on from there, and ends everything whatever comes of it. */
export async function rehearse(options: RehearsalOptions, play: (scene: Scene) => Promise<Report>): Promise<Report> {
  const notes = new Notes(options.tell)
  const { size, source } = options
  // Ledgers are held in memory.
  const world = await notes.phase('clusters start', () => startRehearsalWorld(source, size.seconds > 60 ? 2048 : 768))
  try {
    return await play(await setScene(notes, options, world))
  } finally {
    await world.close()
  }
}

/** Sets everything up to the point where producers and consumers are at work at the source. */
async function setScene(notes: Notes, options: RehearsalOptions, world: RehearsalWorld): Promise<Scene> {
  const { size, seed } = options
  const topics = planTopics(size.topics)
  const names = topics.map(({ name }) => name)
  const groups = planGroups(size.groups, topics)
  const writers = planProducers(topics, size)
  const producers = new Producers(world, seed)
  const bare = { world, notes, options, topics, names, groups, writers, producers, starts: { [`${TRIMMED}-0`]: 5 } }
  const ended = await notes.phase('source is filled', () => fillSource(bare))
  await notes.phase('link is created', () => createLink(bare))
  await notes.phase('mirrors are created and catch up', () => waitUntilCaughtUp(bare))
  const scene = { ...bare, ended }
  await notes.phase('load', () => runLoad(scene))
  return scene
}

type BareScene = Omit<Scene, 'ended'>

async function fillSource({ world, options, topics, groups, writers, producers }: BareScene): Promise<Deliveries> {
  const { source, driver } = world
  await driver.call('create-topics', { bootstrap: source.bootstrap, topics })
  const acls = planAcls(options.size.acls)
  const { bootstrap } = source
  await driver.call('admin-security', { op: 'create-acls', bootstrap, acls })
  // Brokers follow their controller a moment later.
  await eventually(async () => {
    const known = await driver.call<string[]>('admin-security', { op: 'acls', bootstrap, filter: [] })
    strictEqual(known.length, acls.length)
  })
  await producers.start(SESSIONS.before, seeding(writers, 30), source)
  await producers.finished(SESSIONS.before)
  await source.deleteRecords(TRIMMED, { 0: 5 })
  await world.java.start('ended', groups.ended, placeOf(world, source))
  for (const group of groups.set) {
    const end = await endOf(world.source, group.topic)
    const offset = { 'at-end': end, beyond: end + 1_000_000, below: 1, rewound: end, middle: Math.floor(end / 2) }
    await setOffset(world, group, offset[group.state])
  }
  return world.java.finished('ended')
}

async function endOf(side: RehearsalWorld['source'], topic: string): Promise<number> {
  const { partitions } = await side.describe(topic)
  return partitions.find(({ partition }) => partition === 0)?.highWatermark ?? 0
}

async function setOffset(world: RehearsalWorld, group: { id: string; topic: string }, offset: number): Promise<void> {
  const asked = { op: 'alter-offsets', bootstrap: world.source.bootstrap, group: group.id }
  const answer = await world.driver.call<Record<string, string>>('admin-groups', {
    ...asked,
    offsets: { [`${group.topic}-0`]: offset },
  })
  strictEqual(answer[`${group.topic}-0`], 'ok', group.id)
}

async function createLink({ world }: BareScene): Promise<void> {
  const { cluster, source } = world
  const properties = ['--source-bootstrap-server', source.secure, '--source-cluster', cluster.clusterId]
  const all = [...properties, '--config', world.linkFile]
  await must(world, 'link', 'preflight', ...all)
  await must(world, 'link', 'create', LINK, ...all, '--dry-run')
  await must(world, 'link', 'create', LINK, ...all)
}

/** Runs a command of the operator that has to succeed; resolves to what it printed. */
export async function must(world: RehearsalWorld, ...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await world.run(...args)
  strictEqual(status, 0, `lockstep ${args.join(' ')}: ${stdout.slice(-2_000)}${stderr.slice(-2_000)}`)
  return stdout
}

interface MirrorRow {
  readonly mirror_topic_name: string
  readonly mirror_status: string
  readonly mirror_lags: readonly { readonly partition: number; readonly lag: number | null }[]
  readonly stop_points: readonly { readonly partition: number; readonly stop_offset: number }[]
}

/** All mirrors of the link as REST shows them. */
export async function mirrorsOf(world: RehearsalWorld): Promise<readonly MirrorRow[]> {
  const answer = await world.node.rest.call('GET', `/links/${LINK}/mirrors`)
  return (answer as { readonly data: readonly MirrorRow[] }).data
}

async function waitUntilCaughtUp({ world, names }: BareScene): Promise<void> {
  await eventually(async () => {
    const mirrors = await mirrorsOf(world)
    strictEqual(mirrors.length, names.length)
    for (const { mirror_topic_name: name, mirror_status: status, mirror_lags: lags } of mirrors) {
      strictEqual(status, 'ACTIVE', name)
      ok(
        lags.every(({ lag }) => lag === 0),
        `${name} lags`,
      )
    }
  })
}

/** Producers and consumers work; meanwhile some groups are set back. */
async function runLoad({ world, options, groups, writers, producers }: Scene): Promise<void> {
  const { size } = options
  await producers.start(SESSIONS.load, writers, world.source)
  await startReaders({ world, groups }, 'source', world.source)
  for (const group of groups.set.filter(({ state }) => state === 'rewound')) await setOffset(world, group, 1)
  // Not waiting for something: this is how long the load lasts.
  await delay(size.seconds * 1_000)
  await eventually(async () => {
    const { records } = await producers.summary(SESSIONS.load)
    ok(records > 0)
    for (const client of world.clients) {
      const read = await client.progress('source')
      ok(
        Object.values(read).every(places => Object.keys(places).length > 0),
        `${client.name} reads`,
      )
    }
  })
}

export const placeOf = (world: RehearsalWorld, at: Place): ClientPlace => ({
  bootstrap: at.secure,
  security: world.security('app'),
})

/** Starts every reading group at one side; at the mirror those, too, that had ended. */
export async function startReaders(
  { world, groups }: Pick<Scene, 'world' | 'groups'>,
  session: 'source' | 'mirror',
  at: Place,
): Promise<void> {
  await Promise.all(
    world.clients.map(client => {
      const own = groups.reading[client.name as keyof PlannedGroups['reading']] ?? []
      const ended = session === 'mirror' && client.name === 'Java' ? groups.ended : []
      const resumed = ended.map(({ id, topics, commits }) => ({ id, topics, commits }))
      return client.start(session, [...own, ...resumed], placeOf(world, at))
    }),
  )
}

/** What all clients were given in a session, ended without a commit or still going on. */
export async function readBy(world: RehearsalWorld, session: string, how: 'progress' | 'stop'): Promise<Deliveries> {
  const all = await Promise.all(world.clients.map(client => client[how](session)))
  return Object.assign({}, ...all)
}

/** Offsets of a group at one side, by partition. */
export async function committedBy(side: RehearsalWorld['source'], group: string): Promise<Record<string, number>> {
  const asked = { op: 'offsets', bootstrap: side.bootstrap, group }
  const found = await side.driver.call<Record<string, [number] | null>>('admin-groups', asked)
  return Object.fromEntries(Object.entries(found).flatMap(([name, offset]) => (offset ? [[name, offset[0]]] : [])))
}

/** Log start and end of every partition at one side. */
export async function boundsOf(
  side: RehearsalWorld['source'],
  topics: readonly string[],
): Promise<Map<string, { readonly start: number; readonly end: number; readonly stable: number }>> {
  const described = await Promise.all(topics.map(async topic => ({ topic, ...(await side.describe(topic)) })))
  return new Map(
    described.flatMap(({ topic, partitions }) =>
      partitions.map(({ partition, logStart, highWatermark, lastStable }) => [
        `${topic}-${partition}`,
        { start: logStart, end: highWatermark, stable: lastStable },
      ]),
    ),
  )
}

/** Every group that the rehearsal has, with the library of its client where it has one. */
export const allGroups = ({ groups }: Pick<Scene, 'groups'>) => [
  ...Object.entries(groups.reading).flatMap(([client, own]) =>
    own.map(({ id, topics, commits }) => ({ id, topics, client, commits })),
  ),
  ...groups.ended.map(({ id, topics, commits }) => ({ id, topics, client: 'Java (had ended)', commits })),
]

/** Sums of promises. */
export const recordsOf = (...sessions: readonly Promised[]): number =>
  sessions.reduce((total, { records }) => total + records, 0)
