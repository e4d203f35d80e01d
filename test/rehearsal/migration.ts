// The migration rehearsal: a source in use is left for good; run by `npm run rehearse` and the suite of rehearsals.
import { deepStrictEqual, ok } from 'node:assert/strict'
import { eventually } from '../eventually.ts'
import { checkAccess, checkSample, goOnAtMirror, judge } from './aftermath.ts'
import type { Deliveries } from './deliveries.ts'
import { LINK, type RehearsalWorld } from './rehearsal-world.ts'
import type { Report } from './report.ts'
import {
  allGroups,
  boundsOf,
  committedBy,
  must,
  type RehearsalOptions,
  readBy,
  recordsOf,
  rehearse,
  type Scene,
  SESSIONS,
} from './scene.ts'

/** Throws where the rehearsal itself cannot go on; promises that were not kept are in the report. */
export const rehearseMigration = (options: RehearsalOptions): Promise<Report> => rehearse(options, migrate)

async function migrate(scene: Scene): Promise<Report> {
  const { world, notes, producers, options } = scene
  await notes.phase('link is looked at', () => lookBefore(scene))
  const load = await notes.phase('producers are stopped', () => producers.stop(SESSIONS.load))
  const before = await notes.phase('consumers are stopped', () => readBy(world, 'source', 'stop'))
  await notes.phase('promote', () => promote(scene))
  await checkGroups(scene, before)
  await notes.phase('clients begin at the mirror', () => goOnAtMirror(scene))
  await notes.phase('ACLs are tried', () => checkAccess(scene))
  const outcome = await judge(scene, before)
  for (const { group, rereadCommitted } of outcome.groups)
    notes.expect(rereadCommitted === 0, `${group} was given ${rereadCommitted} records again that it had committed`)
  await notes.phase('logs are compared by DumpLogSegments', () => checkSample(scene))
  const after = await producers.summary(SESSIONS.after)
  const seeded = await producers.summary(SESSIONS.before)
  const { topics, groups } = outcome
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  Object.assign(notes.figures, {
    topics: topics.length,
    partitions: sum(topics.map(row => row.partitions)),
    groups: allGroups(scene).length + scene.groups.set.length,
    ACLs: options.size.acls,
    'records acknowledged at the source': recordsOf(seeded, load),
    'records lost': sum(topics.map(row => row.lost)),
    'transactions committed at the source': (seeded.transactions.COMMITTED ?? 0) + (load.transactions.COMMITTED ?? 0),
    'records written on at the mirror': after.records,
    'records read again (none was committed)': sum(groups.map(row => row.reread)),
    'window without writes, ms': after.firstAckMs - load.lastAckMs,
  })
  const { phases, figures, faults } = notes
  return {
    rehearsal: 'migration',
    source: options.source,
    seed: options.seed,
    ...{ phases, figures, topics, groups, faults },
    commands: world.ran,
  }
}

const ALL = ['--link', LINK, '--pattern', '.*']

/** What an operator looks at while clients are still at work. */
async function lookBefore({ world, notes, names }: Scene): Promise<void> {
  // The first rounds may meet a coordinator that is still being made.
  await eventually(async () => {
    const tasks = JSON.parse(await must(world, 'link', 'task', 'list', LINK, '-o', 'json')) as Task[]
    const troubled = tasks.filter(({ state }) => state !== 'ACTIVE' && state !== 'NOT_CONFIGURED')
    deepStrictEqual(troubled, [])
  }).catch(error => notes.expect(false, `tasks of the link: ${error}`))
  await must(world, 'group', 'list', '--link', LINK)
  await must(world, 'acl', 'list', '--link', LINK)
  const sample = names.filter(name => /^(transactional|compacted)-000$/.test(name))
  const verified = await world.run('verify', ...sample, '--link', LINK)
  notes.expect(
    verified.status === 0,
    `verify ended with ${verified.status}: ${verified.stdout.slice(-2_000)}${verified.stderr.slice(-2_000)}`,
  )
  await must(world, 'mirror', 'promote', ...ALL, '--dry-run')
}

interface Task {
  readonly task_name: string
  readonly state: string
  readonly errors: unknown
}

/** One command for all topics. */
async function promote({ world, names }: Scene): Promise<void> {
  await must(world, 'mirror', 'promote', ...ALL, '--force', '--wait=180')
  const rows = JSON.parse(await must(world, 'mirror', 'list', '--link', LINK, '-o', 'json')) as {
    mirror_status: string
  }[]
  deepStrictEqual(
    rows.map(row => row.mirror_status),
    names.map(() => 'STOPPED'),
  )
}

/** Every committed offset of the source is here, as far as there is data for it. */
async function checkGroups(scene: Scene, before: Deliveries): Promise<void> {
  const { world, notes, names, groups } = scene
  const bounds = await notes.phase('offsets are compared', () => boundsOf(world.source, names))
  const here = await boundsOf(world.mirror, names)
  for (const [partition, { start, end }] of bounds)
    notes.expect(
      here.get(partition)?.end === end && here.get(partition)?.start === start,
      `${partition} is ${JSON.stringify(here.get(partition))} here and ${JSON.stringify({ start, end })} at the source`,
    )
  const ids = [...allGroups(scene), ...groups.set].map(({ id }) => id)
  let partitions = 0
  let clamped = 0
  for (const id of ids) {
    const [there, mirrored] = [await committedBy(world.source, id), await committedBy(world.mirror, id)]
    for (const [partition, offset] of Object.entries(there)) {
      const { start = 0, end = 0 } = bounds.get(partition) ?? {}
      const wanted = Math.max(start, Math.min(offset, end))
      partitions++
      if (wanted !== offset) clamped++
      notes.expect(mirrored[partition] === wanted, `${id} ${partition}: ${mirrored[partition]} here, not ${wanted}`)
      // The client's own memory of what was acknowledged, beside what the source says.
      const acknowledged = before[id]?.[partition]?.committed ?? -1
      notes.expect(wanted >= acknowledged, `${id} ${partition}: ${acknowledged} was committed, ${wanted} is here`)
    }
    notes.expect(
      Object.keys(mirrored).every(name => name in there),
      `${id} has offsets here that the source has not`,
    )
  }
  ok(partitions > 0)
  notes.figures['group offsets compared'] = partitions
  notes.figures['of those clamped to the data'] = clamped
  await checkAcls(scene)
}

async function checkAcls({ world, notes }: Scene): Promise<void> {
  const aclsOf = (side: RehearsalWorld['source']) =>
    world.driver.call<string[]>('admin-security', { op: 'acls', bootstrap: side.bootstrap, filter: [] })
  const wanted = await aclsOf(world.source)
  await eventually(async () => deepStrictEqual(await aclsOf(world.mirror), wanted)).catch(error =>
    notes.expect(false, `ACLs differ: ${error}`),
  )
}
