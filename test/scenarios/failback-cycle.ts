// The whole way there and back of one topic, step by step: mirrored, lost, failed over, restored, reversed, and what must be true in the end; used by the failback suites.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { eventually } from '../eventually.ts'
import type { JavaDriver } from '../java/driver.ts'
import { lockstep } from './command-line.ts'
import { assertEqualTopics, type Sides, waitUntilInStep } from './equality.ts'
import { FailbackLoad, visibleRecords } from './failback-load.ts'
import type { Site } from './failback-site.ts'
import { batchField, dumpLog } from './logs.ts'
import { visibleIn } from './peers-world.ts'
import type { TopicSide } from './topic-side.ts'
import { WritersOfBoth } from './writers-of-both.ts'

const PARTITIONS = [0, 1]

export interface CycleStep {
  readonly name: string
  readonly act: () => Promise<void>
  /** It begins when whoever was killed is back: KafkaJS gives up where a broker of its metadata is away. */
  readonly needsAll: boolean
}

interface CycleOptions {
  /** Has the topic first, and last. */
  readonly east: Site
  readonly west: Site
  readonly topic: string
  readonly driver: JavaDriver
  /** Does a step, and what the suite wants around it; default: the step alone. */
  readonly around?: (step: CycleStep) => Promise<void>
  /** What it measures. */
  readonly tell: (text: string) => void
}

export class FailbackCycle {
  readonly #of: CycleOptions
  readonly #load: FailbackLoad
  readonly #writing: WritersOfBoth[] = []
  readonly #exported: string[] = []

  constructor(of: CycleOptions) {
    this.#of = of
    this.#load = new FailbackLoad(of.driver, of.topic)
  }

  /** Ends what still writes. */
  async close(): Promise<void> {
    await Promise.all(this.#writing.map(writers => writers.stop()))
    await this.#load.close(this.#of.east)
  }

  async run(): Promise<void> {
    const { east, west, topic } = this.#of
    await this.#mirrored()
    const first = await this.#lost()
    await this.#restored(first)
    await this.#reversed()
    await this.#step('all copies are equal', () => this.#assertEqualCopies(), true)
    await this.#assertNothingLost()
    await this.#step('groups read the rest', () => this.#load.readAll(east, west), true)
    strictEqual((await west.link.describe(topic)).mirror_status, 'ACTIVE')
  }

  async #step(name: string, act: () => Promise<void>, needsAll = false): Promise<void> {
    const { around, tell } = this.#of
    const startedMs = performance.now()
    await (around ? around({ name, act, needsAll }) : act())
    if (process.env['LOCKSTEP_TELL_STEPS'] !== undefined)
      tell(`${Math.round(performance.now() - startedMs)} ms: ${name}`)
  }

  /** Mirrored, and read by groups, which both sides know of. */
  async #mirrored(): Promise<void> {
    const { east, west, topic } = this.#of
    const load = this.#load
    await this.#step('writers come', async () => {
      // The records are old, and none may go.
      const configs = { 'retention.ms': '-1' }
      const replicationFactor = east.isJoined ? 2 : 1
      await east.side.createTopic(topic, { partitions: PARTITIONS.length, replicationFactor, configs })
      await load.write(east, 'before')
    })
    await this.#step('west mirrors', async () => {
      await eventually(() => west.link.mirror(topic))
      await this.#inStep()
    })
    const bothRead = async () => void (await Promise.all([load.read(east, 12), load.readMirror(west, 12)]))
    await this.#step('groups read', bothRead, true)
    await this.#step('their offsets are mirrored', () => load.groupsInStep([east, west]))
    await this.#step('offsets of the mirror come back', () => load.groupsInStep([west, east], [load.mirrorGroup]))
  }

  /** East dies with records that west never gets, west goes on; resolves to the writers, who go on too. */
  async #lost(): Promise<WritersOfBoth> {
    const { east, west, topic } = this.#of
    const load = this.#load
    // What the mirror never gets, and what comes while the source dies.
    const first = this.#writersOfBoth('first')
    await eventually(() => ok(first.acknowledged.length > 10))
    await this.#step('a transaction is open', () => load.leaveOpen(east, 'mirrored', 0))
    await this.#step('the mirror falls behind', async () => {
      await eventually(() => west.link.must('pause', [topic]))
      await west.link.waitForStatus(topic, 'PAUSED')
    })
    await this.#step('writers go on', () => load.write(east, 'tail'), true)
    await this.#step('another transaction is open', () => load.leaveOpen(east, 'tail', 1))
    await this.#step('east dies', () => east.kill(), true)
    await this.#step('west takes over', async () => {
      await eventually(() => west.link.failOver([topic]))
      await eventually(() => ok(first.hasTaken('writer first 1')))
    })
    await this.#step('writers go to west', () => load.write(west, 'without'), true)
    await this.#step('groups go to west', () => load.read(west, 12), true)
    return first
  }

  /** East comes back, and is cut to what west has. */
  async #restored(first: WritersOfBoth): Promise<void> {
    const { east, west, topic } = this.#of
    await this.#step('east comes back', async () => {
      // Its old producers come back to it before anybody restores it.
      const early = first.acknowledged.length
      await east.start()
      await eventually(() => ok(first.hasTaken('writer first 0', early)))
    })
    await first.stop()
    await this.#step('east is restored', async () => {
      const cutOff = await this.#countBeyondStop()
      const row = await eventually(async () => {
        const answer = await east.link.restore(topic, { export_divergent: true })
        strictEqual(answer?.error_code, null, answer?.error_message ?? '')
        return answer
      })
      const parts = row?.partition_level_truncation_data ?? []
      deepStrictEqual(
        parts.map(({ messages_truncated: count }) => count),
        cutOff,
      )
      await east.link.waitForStatus(topic, 'ACTIVE')
    })
    await this.#step('writers stay at west', () => this.#load.write(west, 'restored'), true)
    await this.#step('east catches up', () => this.#inStep())
    const [, listed = ''] = (await east.link.history(topic)).flatMap(
      ({ reason }) => /exported to (.*)$/.exec(reason) ?? [],
    )
    for (const path of listed.split(', '))
      this.#exported.push(...visibleIn([await readFile(path)]).map(({ value }) => value))
  }

  /** East takes over again, under load. */
  async #reversed(): Promise<void> {
    const { east, west, topic, tell } = this.#of
    await this.#step('offsets come back', () => this.#load.groupsInStep([west, east]))
    await this.#step('a group moves to the mirror', () => this.#moveGroup(), true)
    const second = this.#writersOfBoth('second')
    await eventually(() => ok(second.acknowledged.length > 10))
    await this.#step('roles change back', async () => {
      const args = ['mirror', 'reverse-and-start', topic, '--link', east.link.name, '--force', '--wait=120s']
      const { stderr } = await eventually(async () => {
        const answer = await lockstep(east.node, args)
        strictEqual(answer.status, 0, `${answer.stdout}${answer.stderr}`)
        return answer
      })
      const [window] = /Nobody could write for .*/.exec(stderr) ?? []
      tell(window ?? '')
      match(stderr, /Nobody could write for \d+ ms/)
      await eventually(() => ok(second.hasTaken('writer second 0')))
    })
    await second.stop()
    await this.#step('writers come back', () => this.#load.write(east, 'back'), true)
  }

  /** The group that reads mirrors reads the new one; the link follows it, which must not overwrite what clients have committed. */
  async #moveGroup(): Promise<void> {
    const { east, west } = this.#of
    const { mirrorGroup: group } = this.#load
    await this.#load.readMirror(east, 12)
    await eventually(async () => {
      const { status, stdout, stderr } = await lockstep(west.node, ['group', 'adopt', group, '--link', west.link.name])
      strictEqual(status, 0, `${stdout}${stderr}`)
    })
    await this.#load.groupsInStep([east, west], [group])
  }

  /** All copies, as Kafka's own tool prints them, and what clients read. */
  async #assertEqualCopies(): Promise<void> {
    const { east, west, topic } = this.#of
    // Markers come after the answers, later still where their coordinator was killed; whoever reads before does not see the records.
    await eventually(async () => {
      for (const { lastStable, highWatermark } of (await east.side.describe(topic)).partitions)
        strictEqual(lastStable, highWatermark, 'a transaction is open')
    })
    const [[source, ...followers], [mirror, ...others]] = await Promise.all([east.copies(topic), west.copies(topic)])
    ok(source && mirror)
    await assertEqualTopics({ source, mirror, replicas: [...followers, ...others] }, topic)
  }

  /** What was acknowledged is there, or was exported; what was aborted is not. */
  async #assertNothingLost(): Promise<void> {
    const { east, topic, tell } = this.#of
    const kept = new Set([...(await visibleRecords(east, topic)).map(({ value }) => value), ...this.#exported])
    const written = this.#writing.flatMap(({ acknowledged }) => acknowledged.map(({ value }) => value))
    const acknowledged = [...this.#load.acknowledged, ...written]
    deepStrictEqual(
      acknowledged.filter(value => !kept.has(value)),
      [],
      'acknowledged records are neither there nor exported',
    )
    deepStrictEqual(
      this.#load.aborted.filter(value => kept.has(value)),
      [],
      'records of aborted transactions can be read',
    )
    tell(`${acknowledged.length} acknowledged, ${this.#exported.length} of them in the exported tail`)
  }

  /** Records that east has from where west took over, by partition; markers are none. */
  async #countBeyondStop(): Promise<number[]> {
    const { east, west, topic } = this.#of
    const common = (await west.link.describe(topic)) as unknown as { stop_points: { stop_offset: number }[] }
    const countIn = async (copy: TopicSide, partition: number): Promise<number> => {
      const fromOffset = common.stop_points[partition]?.stop_offset ?? 0
      const batches = await dumpLog(copy, topic, { partition, fromOffset })
      return batches
        .filter(batch => batchField(batch, 'isControl') === 'false')
        .reduce((sum, batch) => sum + Number(batchField(batch, 'count')), 0)
    }
    // A follower that has just come back gets later what its leader has acknowledged.
    return await eventually(async () => {
      const [first, ...others] = await Promise.all(
        (await east.copies(topic)).map(copy => Promise.all(PARTITIONS.map(partition => countIn(copy, partition)))),
      )
      ok(first)
      for (const other of others) deepStrictEqual(other, first)
      return first
    })
  }

  get #sides(): Sides {
    const { east, west } = this.#of
    return { source: east.side, mirror: west.side }
  }

  #inStep(): Promise<void> {
    return waitUntilInStep(this.#sides, this.#of.topic)
  }

  #writersOfBoth(name: string): WritersOfBoth {
    const { east, west, topic } = this.#of
    // Longer than markers of transactions are: shorter records get through the fence of a mirror that Kafka brokers lead.
    const places = [east, west].map(({ bootstrap }, index) => ({ name: `writer ${name} ${index}`, bootstrap }))
    const writers = new WritersOfBoth(places, topic)
    this.#writing.push(writers)
    return writers
  }
}
