// The disaster rehearsal: the source is killed under load, and clients go on at the mirror; run by `npm run rehearse` and the suite of rehearsals.
import { ok, strictEqual } from 'node:assert/strict'
import { eventually } from '../eventually.ts'
import { batchField, dumpLog } from '../scenarios/logs.ts'
import { checkAccess, goOnAtMirror, judge, type Outcome } from './aftermath.ts'
import type { Deliveries } from './deliveries.ts'
import { LINK } from './rehearsal-world.ts'
import type { Report } from './report.ts'
import {
  allGroups,
  boundsOf,
  committedBy,
  mirrorsOf,
  must,
  type RehearsalOptions,
  readBy,
  recordsOf,
  rehearse,
  type Scene,
  SESSIONS,
} from './scene.ts'

/** Throws where the rehearsal itself cannot go on; promises that were not kept are in the report. */
export const rehearseDisaster = (options: RehearsalOptions): Promise<Report> => rehearse(options, loseSource)

async function loseSource(scene: Scene): Promise<Report> {
  const { world, notes, producers, options } = scene
  const open = (await producers.summary(SESSIONS.load)).transactions.OPEN ?? 0
  ok(open > 0, 'a transaction is open')
  await notes.phase('a failover is tried dry', async () => {
    await must(world, 'link', 'describe', LINK)
    await must(world, 'mirror', 'failover', '--link', LINK, '--pattern', '.*', '--dry-run')
  })
  const killedMs = Date.now()
  await Promise.all(world.cluster.nodes.map(node => node.kill()))
  // Clients of the dead cluster end by themselves; nobody waits for them.
  const clientsEnded = Promise.all([producers.abandon(SESSIONS.load), readBy(world, 'source', 'stop')])
  clientsEnded.catch(() => {})
  await notes.phase('failover', () => failOver(scene))
  const stoppedMs = Date.now()
  const looked = await notes.phase('offsets are looked at', () => look(scene))
  const lookedMs = Date.now() - stoppedMs
  await notes.phase('clients begin at the mirror', () => goOnAtMirror(scene))
  const [load, before] = await notes.phase('clients of the source have ended', () => clientsEnded)
  await notes.phase('ACLs are tried', () => checkAccess(scene))
  await must(world, 'mirror', 'list', '--link', LINK, '--mirror-status', 'active')
  await must(world, 'group', 'list', '--link', LINK)
  const ends = Object.fromEntries(looked.stops)
  const outcome = await judge(scene, before, { ends, sourceEndedMs: killedMs })
  checkGroups(scene, looked, before)
  await notes.phase('markers and producer ids are looked at', () => checkBarrier(scene, looked))
  const after = await producers.summary(SESSIONS.after)
  const seeded = await producers.summary(SESSIONS.before)
  Object.assign(notes.figures, sizes(scene), {
    'records acknowledged at the source': recordsOf(seeded, load),
    ...recoveryPoint(outcome),
    ...transactions(scene, outcome, open),
    'failover done after the kill, ms': stoppedMs - killedMs,
    'RTO: first record acknowledged at the mirror after the kill, ms': after.firstAckMs - killedMs - lookedMs,
    ...consumersGoOn(outcome, killedMs + lookedMs),
    'own look at offsets in between, left out of both, ms': lookedMs,
    'records written on at the mirror': after.records,
    'records read again': sum(outcome.groups.map(row => row.reread)),
    'of those committed at the source but not yet synced': sum(outcome.groups.map(row => row.rereadCommitted)),
  })
  const { phases, figures, faults } = notes
  const { topics, groups } = outcome
  return {
    rehearsal: 'disaster',
    source: options.source,
    seed: options.seed,
    ...{ phases, figures, topics, groups, faults },
    commands: world.ran,
  }
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

const sizes = ({ topics, groups, options }: Scene) => ({
  topics: topics.length,
  partitions: sum(topics.map(({ partitions }) => partitions)),
  groups: allGroups({ groups }).length + groups.set.length,
  ACLs: options.size.acls,
})

/** What was acknowledged and is not here. */
function recoveryPoint({ topics }: Outcome) {
  const losing = topics.filter(({ lost }) => lost > 0)
  return {
    'RPO: acknowledged records that are lost': sum(topics.map(({ lost }) => lost)),
    'RPO: how long before the kill the oldest of them was acknowledged, ms': Math.max(
      0,
      ...losing.map(row => row.lostMs ?? 0),
    ),
    'topics that lost records': losing.length,
  }
}

function transactions({ notes }: Scene, { check }: Outcome, open: number) {
  const fates = check.transactions[SESSIONS.load] ?? {}
  notes.expect((check.transactions[SESSIONS.after]?.torn ?? 0) === 0, 'transactions of the mirror are visible in part')
  return {
    'transactions open right before the kill': open,
    'committed transactions that are here as a whole': fates.whole ?? 0,
    'committed transactions that are lost as a whole': fates.lost ?? 0,
    'transactions cut: some of their partitions had the commit, others not yet': fates.torn ?? 0,
  }
}

function consumersGoOn({ groups }: Outcome, sinceMs: number) {
  const firsts = groups.flatMap(({ firstMs }) => (firstMs === null ? [] : [firstMs - sinceMs])).sort((a, b) => a - b)
  return {
    'groups that read on at the mirror': firsts.length,
    'RTO: first record of a consumer after the kill, ms': firsts[0] ?? null,
    'RTO: until every group has had one, ms': firsts.at(-1) ?? null,
  }
}

/** One command for all topics. */
async function failOver(scene: Scene): Promise<void> {
  const { world, notes, names, options } = scene
  const command = ['mirror', 'failover', '--link', LINK, '--pattern', '.*', '--force', '--wait=180']
  const first = world.run(...command)
  if (options.nodeKill) {
    const stopped = await eventually(
      async () => {
        const count = (await stoppedMirrors(scene)).length
        ok(count > 0)
        return count
      },
      { intervalMs: 5 },
    )
    await world.node.kill()
    notes.figures['topics that were STOPPED when the Lockstep node was killed'] = stopped
    await Promise.all([first, world.node.start()])
    // What was accepted is finished by the node itself; asking again is for what had not been.
    const again = await world.run(...command)
    notes.expect(again.status === 0 || again.status === 3 || again.status === 1, again.stderr.slice(-1_000))
  } else {
    const { status, stderr } = await first
    notes.expect(status === 0, `failover ended with ${status}: ${stderr.slice(-2_000)}`)
  }
  await eventually(async () => strictEqual((await stoppedMirrors(scene)).length, names.length))
}

const stoppedMirrors = async ({ world }: Scene) =>
  (await mirrorsOf(world)).filter(({ mirror_status: status }) => status === 'STOPPED')

/** The mirror before anybody writes to it. */
interface Look {
  /** Where each mirror stopped: below is the source's. */
  readonly stops: ReadonlyMap<string, number>
  readonly bounds: ReadonlyMap<string, { readonly start: number; readonly end: number; readonly stable: number }>
  readonly committed: ReadonlyMap<string, Readonly<Record<string, number>>>
}

async function look({ world, names, groups }: Scene): Promise<Look> {
  const ids = [...allGroups({ groups }), ...groups.set].map(({ id }) => id)
  const [bounds, mirrors, offsets] = await Promise.all([
    boundsOf(world.mirror, names),
    mirrorsOf(world),
    Promise.all(ids.map(async id => [id, await committedBy(world.mirror, id)] as const)),
  ])
  const stops = mirrors.flatMap(({ mirror_topic_name: topic, stop_points: points }) =>
    points.map(({ partition, stop_offset: offset }) => [`${topic}-${partition}`, offset] as const),
  )
  return { stops: new Map(stops), bounds, committed: new Map(offsets) }
}

function checkGroups({ notes }: Scene, { stops, bounds, committed }: Look, before: Deliveries): void {
  for (const [partition, { end, stable }] of bounds)
    notes.expect(end === stable, `${partition}: readers of committed records stop at ${stable} of ${end}`)
  let count = 0
  for (const [group, offsets] of committed)
    for (const [partition, offset] of Object.entries(offsets)) {
      count++
      const stop = stops.get(partition) ?? 0
      notes.expect(offset <= stop, `${group} ${partition}: offset ${offset} is above the data, which ends at ${stop}`)
      const place = before[group]?.[partition]
      const read = Math.max(place?.committed ?? 0, ...(place?.runs.map(([, last]) => last + 1) ?? []))
      // Behind a transaction a position is beyond its marker, which nobody is given.
      const exact = !/^(transactional|held)-/.test(partition)
      notes.expect(
        !place || !exact || offset <= read,
        `${group} ${partition}: offset ${offset}, but it had read only to ${read}`,
      )
    }
  notes.figures['group offsets at the mirror, none above the data'] = count
}

/** Kafka's own tool shows the markers of what was open, and that new producers have ids of their own. */
async function checkBarrier({ world, notes }: Scene, { stops }: Look): Promise<void> {
  const topic = 'held-000'
  for (const partition of [0, 1]) {
    const stop = stops.get(`${topic}-${partition}`) ?? 0
    const batches = await dumpLog(world.mirror, topic, { partition })
    const old = batches.filter(batch => batch.lastOffset < stop)
    const added = batches.filter(batch => batch.baseOffset >= stop)
    const isOf = (type: string) => (batch: (typeof batches)[number]) =>
      new RegExp(`endTxnMarker: ${type}`).test(batch.lines[1] ?? '')
    const last = old.filter(batch => batchField(batch, 'isTransactional') === 'true').at(-1)
    const wasOpen = last !== undefined && batchField(last, 'isControl') === 'false'
    const [marker] = added
    if (wasOpen) notes.expect(marker !== undefined && isOf('ABORT')(marker), `${topic}-${partition}: no ABORT marker`)
    const id = (batch: (typeof batches)[number]) => Number(batchField(batch, 'producerId'))
    const highest = Math.max(-1, ...old.map(id))
    const reused = added.slice(wasOpen ? 1 : 0).filter(batch => id(batch) <= highest)
    notes.expect(reused.length === 0, `${topic}-${partition}: producer ids of the source are used again`)
  }
}
