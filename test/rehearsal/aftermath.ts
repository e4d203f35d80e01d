// After the move: producers and consumers go on at the mirror, and everything is compared with the ledgers; used by both rehearsals.
import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { javaProperties } from '../clients/client-security.ts'
import { eventually } from '../eventually.ts'
import { assertEqualBatches } from '../scenarios/equality.ts'
import { dumpLog } from '../scenarios/logs.ts'
import { type Deliveries, type GroupVerdict, judgeGroup } from './deliveries.ts'
import type { Check, TopicCheck } from './producers.ts'
import type { TopicRow } from './report.ts'
import { allGroups, readBy, type Scene, SESSIONS, startReaders } from './scene.ts'

/** How long producers go on at the mirror. */
const AFTER_MS = 3_000

/** Producers with the same names and transactional ids, and all groups, begin at the mirror. */
export async function goOnAtMirror(scene: Scene): Promise<void> {
  const { world, producers, writers } = scene
  const plans = writers.map(plan => (plan.kind === 'held' ? { ...plan, kind: 'transactional' as const } : plan))
  await Promise.all([producers.start(SESSIONS.after, plans, world.mirror), startReaders(scene, 'mirror', world.mirror)])
  await eventually(async () => strictEqual((await producers.summary(SESSIONS.after)).records > 0, true))
}

/** Where source and mirror part, and when the source ended, in milliseconds since 1970; nothing of it for a migration. */
export interface Fork {
  readonly ends: Readonly<Record<string, number>>
  readonly sourceEndedMs: number
}

const compactedOf = ({ topics }: Scene) => topics.filter(({ kind }) => kind === 'compacted').map(({ name }) => name)

export interface Outcome {
  readonly check: Check
  readonly groups: readonly GroupVerdict[]
  readonly topics: readonly TopicRow[]
}

/** Lets clients work on, ends them, and compares. */
export async function judge(scene: Scene, before: Deliveries, fork?: Fork): Promise<Outcome> {
  const { world, producers, names, notes } = scene
  // Not waiting for something: this is how long the load lasts.
  await delay(AFTER_MS)
  await producers.stop(SESSIONS.after)
  const check = await notes.phase('ledgers are compared', () =>
    producers.check(world.mirror, {
      topics: names,
      compacted: compactedOf(scene),
      sessions: [SESSIONS.before, SESSIONS.load, SESSIONS.after],
      own: SESSIONS.after,
      starts: scene.starts,
      ...(fork ? { ends: fork.ends } : {}),
    }),
  )
  const source = { ...scene.ended, ...before }
  const groups = await notes.phase('consumers read to the end', () => drained(scene, { source, check, fork }))
  judgeTopics(scene, check, fork !== undefined)
  for (const { group, missed } of groups) notes.expect(missed === 0, `${group} missed ${missed} records`)
  return { check, groups, topics: topicRows(scene, check, fork) }
}

async function drained(
  scene: Scene,
  { source, check, fork }: { source: Deliveries; check: Check; fork: Fork | undefined },
): Promise<GroupVerdict[]> {
  const { world } = scene
  const verdicts = (mirror: Deliveries) =>
    allGroups(scene).map(({ id, topics, client }) =>
      judgeGroup({
        ...{ group: id, client, topics, source, mirror },
        visible: check.visible,
        compacted: compactedOf(scene),
        ...(fork ? { forks: fork.ends } : {}),
      }),
    )
  const complete = async () => {
    const found = verdicts(await readBy(world, 'mirror', 'progress'))
    deepStrictEqual(
      found.filter(({ missed }) => missed > 0).map(({ group }) => group),
      [],
    )
  }
  // What is still missing then is told as a fault.
  await eventually(complete, { timeoutMs: 60_000, intervalMs: 500 }).catch(() => {})
  return verdicts(await readBy(world, 'mirror', 'stop'))
}

function judgeTopics({ notes }: Scene, check: Check, mayLose: boolean): void {
  for (const [session, topics] of Object.entries(check.sessions))
    for (const [topic, { lost, wrong }] of Object.entries(topics)) {
      const forgiven = mayLose && session !== SESSIONS.after
      notes.expect(lost === 0 || forgiven, `${topic}: ${lost} records of session ${session} are lost`)
      notes.expect(wrong === 0, `${topic}: ${wrong} records of session ${session} have another value`)
    }
  notes.expect(
    check.uncommitted === 0,
    `${check.uncommitted} records of transactions that were not committed are visible`,
  )
  notes.expect(check.repeated === 0, `${check.repeated} records are there twice`)
  const torn = Object.values(check.transactions).reduce((total, fates) => total + (fates.torn ?? 0), 0)
  notes.expect(mayLose || torn === 0, `${torn} transactions are visible in part`)
  if (notes.faults.length > 0) notes.faults.push(...check.examples.map(example => `for example ${example}`))
}

function topicRows({ topics }: Scene, check: Check, fork: Fork | undefined): TopicRow[] {
  const none: TopicCheck = { promised: 0, lost: 0, compacted: 0, wrong: 0 }
  const of = (session: string, topic: string) => check.sessions[session]?.[topic] ?? none
  return topics.map(({ name, kind, partitions }) => {
    const source = [of(SESSIONS.before, name), of(SESSIONS.load, name)]
    const sum = (field: 'promised' | 'lost' | 'compacted') => source.reduce((total, row) => total + row[field], 0)
    const first = Math.min(...source.map(row => row.firstLostMs ?? Number.POSITIVE_INFINITY))
    return {
      topic: name,
      kind,
      partitions,
      acknowledged: sum('promised'),
      compacted: sum('compacted'),
      lost: sum('lost'),
      lostMs: fork && Number.isFinite(first) ? Math.max(0, fork.sourceEndedMs - first) : null,
      continued: of(SESSIONS.after, name).promised,
    }
  })
}

/** ACLs of the source bind the mirror's clients: one is let in, one is kept out. */
export async function checkAccess({ world, names, notes }: Scene): Promise<void> {
  const { driver, mirror, security } = world
  const topic = names.find(name => name.startsWith('plain-')) ?? ''
  const write = (user: 'app' | 'stranger') =>
    driver.call('produce', {
      ...{ topic, bootstrap: mirror.secure, idempotent: false },
      generate: { count: 1, headers: 0 },
      properties: { ...javaProperties(security(user)), 'max.block.ms': '20000' },
    })
  await rejects(write('stranger'), /TopicAuthorizationException/).catch(error =>
    notes.expect(false, `a user whom the ACLs keep out was not kept out: ${error}`),
  )
}

/** One topic of each kind whose bytes nobody may change: batch for batch what the source has, by Kafka's own tool. */
export async function checkSample({ world, topics, notes }: Scene): Promise<void> {
  const kinds = ['plain', 'transactional', 'large', 'unacknowledged', 'held', 'trimmed']
  for (const kind of kinds) {
    const topic = topics.find(one => one.kind === kind)
    if (!topic) continue
    const start = (await world.source.describe(topic.name)).partitions[0]?.logStart ?? 0
    const there = await dumpLog(world.source, topic.name, { fromOffset: start })
    const here = await dumpLog(world.mirror, topic.name, { fromOffset: start })
    try {
      match(String(there.length), /[1-9]/)
      assertEqualBatches(here.slice(0, there.length), there, topic.name)
    } catch (error) {
      notes.expect(false, `${topic.name} differs from its source: ${error instanceof Error ? error.message : error}`)
    }
  }
}
