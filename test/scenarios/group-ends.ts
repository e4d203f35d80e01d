// Two clusters that mirror each other, and the groups of Java consumers and share consumers that read at either of them; used by the suite of groups that come back.
import { deepStrictEqual, ok } from 'node:assert/strict'
import { Side } from '../conformance/side.ts'
import { eventually } from '../eventually.ts'
import type { JavaDriver } from '../java/driver.ts'
import { fromEarliest } from './from-earliest.ts'
import type { Peer } from './peers-world.ts'

const patient = { timeoutMs: 120_000, intervalMs: 200 }
const TASKS = ['ConsumerOffsetSync', 'ShareGroupOffsetSync'] as const

/** What one end says of offsets of groups: of partitions that have any. */
type Offsets = Readonly<Record<string, number>>

/** One of the two clusters with the clients that work at it. */
export class GroupEnd {
  readonly peer: Peer
  readonly side: Side

  /** Clients of both ends live in one driver: their ids are different. */
  constructor(peer: Peer, driver: JavaDriver) {
    this.peer = peer
    const { bootstrap, dataDirectory } = peer.node
    this.side = new Side({ name: 'lockstep', bootstrap, dataDirectory, driver })
  }

  /** A Java consumer of the group reads until it has had `count` records; commits `commit`, if given, else all of it; leaves. */
  async read(id: string, of: { group: string; topic: string; count: number; commit?: Offsets }): Promise<string[]> {
    const consumer = await this.side.consumer(id, { 'group.id': of.group })
    await consumer.subscribe(of.topic)
    const rows = await consumer.takeUntil(of.count)
    await consumer.run('commit', of.commit ? { offsets: of.commit } : {})
    await consumer.close()
    return rows.map(([partition, offset]) => `${partition}@${offset}`)
  }

  /** A share consumer accepts `count` records of the topic. */
  async share(id: string, of: { group: string; topic: string; count: number }): Promise<void> {
    const ask = (op: string, args: object = {}) => this.side.java('share-consumer', { id, op, ...args })
    await fromEarliest(args => this.side.java('admin-topics', args), of.group)
    await ask('open', { properties: { 'group.id': of.group } })
    await ask('subscribe', { topics: [of.topic] })
    const rows = await ask('take', { count: of.count, seconds: 120 })
    ok(Array.isArray(rows) && rows.length >= of.count, JSON.stringify(rows))
    await ask('close')
  }

  /** Committed offsets. */
  async committed(group: string): Promise<Offsets> {
    const found = await this.side.groups<Record<string, readonly [number]>>('offsets', { group })
    // A failure is a value, too.
    ok(!('error' in found), JSON.stringify(found))
    return Object.fromEntries(Object.entries(found).map(([partition, [offset]]) => [partition, offset]))
  }

  /** Where a share group starts, in partitions that it has begun to read. */
  async starts(group: string): Promise<Offsets> {
    const found = await this.side.groups<Record<string, number | null>>('share-offsets', { group })
    return Object.fromEntries(Object.entries(found).filter((entry): entry is [string, number] => (entry[1] ?? -1) >= 0))
  }

  setFilters(groupFilters: readonly object[]): Promise<void> {
    return this.peer.link.alter({
      'consumer.offset.sync.enable': 'true',
      'consumer.offset.sync.ms': '1000',
      'consumer.offset.group.filters': JSON.stringify({ groupFilters }),
    })
  }

  /** From now on the link may write over what the group's own consumers have committed here. */
  async adopt(group: string): Promise<void> {
    await this.peer.node.rest.call('POST', `/links/twin/groups/${group}:adopt`)
  }

  /** Offsets that its link has written here so far. */
  async written(): Promise<number> {
    return Number(/^lockstep_group_offsets_synced_total\{link="twin"\} (\d+)$/m.exec(await this.#metrics())?.[1] ?? 0)
  }

  /** Waits until both tasks have begun and ended a round since the call. */
  async rounds(): Promise<void> {
    // The first that ends may have begun before.
    for (let round = 0; round < 2; round++) {
      const before = await this.#successes()
      await eventually(async () => {
        const now = await this.#successes()
        ok(TASKS.every((_, at) => (now[at] ?? 0) > (before[at] ?? 0)))
      }, patient)
    }
  }

  async #successes(): Promise<number[]> {
    const text = await this.#metrics()
    return TASKS.map(task => {
      const line = new RegExp(`^lockstep_link_task_last_success_seconds\\{link="twin",task="${task}"\\} (.+)$`, 'm')
      return Number(line.exec(text)?.[1] ?? 0)
    })
  }

  async #metrics(): Promise<string> {
    return String((await this.peer.node.rest.request('GET', '/metrics')).body)
  }
}

/** Waits until a group has the same offsets at both ends, and tells them. */
export const agree = (ends: readonly [GroupEnd, GroupEnd], of: 'committed' | 'starts', group: string) =>
  eventually(async () => {
    const [one, other] = await Promise.all(ends.map(end => end[of](group)))
    ok(Object.keys(one ?? {}).length > 0, `${group} has no offsets`)
    deepStrictEqual(one, other, group)
    return one ?? {}
  }, patient)
