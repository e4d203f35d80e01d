/** The runtime of coordinators over a whole node in memory: loading, durable order of writes, failing disks, transactions. */
import { deepStrictEqual, rejects, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { TestNode, type TestNodeOptions } from '../../broker/fakes/test-node.ts'
import { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { seededRandom } from '../../core/random.ts'
import { randomUuid } from '../../core/uuid.ts'
import { MemoryFileSystem } from '../../log/fakes/memory-file-system.ts'
import { buildEndMarker } from '../../protocol/batches/control-batch.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { CoordinatorError } from './coordinator-error.ts'
import { javaHash, partitionForKey } from './key-partition.ts'
import { StatePartitions } from './state-partitions.ts'

/** Key → value, and what open transactions would add. */
interface Register {
  readonly values: Map<string, string>
  readonly pending: Map<bigint, [string, string | undefined][]>
}

const set = (map: Map<string, string>, key: string, value: string | undefined) =>
  value === undefined ? map.delete(key) : map.set(key, value)

const bytes = (key: string, value: string | null) => ({
  key: Buffer.from(key),
  value: value === null ? null : Buffer.from(value),
})

const failsWith = (errorCode: number) => (error: unknown) =>
  error instanceof CoordinatorError && error.errorCode === errorCode

interface RegisterOptions extends TestNodeOptions {
  readonly partitions?: number
  readonly onCreate?: (states: StatePartitions<Register>) => void
}

async function register(options: RegisterOptions = {}) {
  const clock = new ManualClock()
  const node = await TestNode.start({ clock, ...options })
  const log: string[] = []
  const states: StatePartitions<Register> = new StatePartitions({
    brokerId: 1,
    definition: {
      name: '__register',
      partitions: options.partitions ?? 1,
      replicationFactor: 3,
      configs: new Map([['max.message.bytes', '1000']]),
    },
    createState(): Register {
      options.onCreate?.(states)
      return { values: new Map(), pending: new Map() }
    },
    replay(state, record, batch) {
      const [key, value] = [record.key.toString(), record.value?.toString()]
      if (batch.producerId < 0n) set(state.values, key, value)
      else state.pending.set(batch.producerId, [...(state.pending.get(batch.producerId) ?? []), [key, value]])
    },
    replayMarker(state, { producerId, committed }) {
      for (const [key, value] of state.pending.get(producerId) ?? []) if (committed) set(state.values, key, value)
      state.pending.delete(producerId)
    },
    loaded: ({ partition }) => log.push(`loaded ${partition}`),
    unloaded: ({ partition }) => log.push(`unloaded ${partition}`),
    replicas: node.replicas,
    controller: node.controller,
    clock,
    logger: silentLogger,
  })
  await node.controller.subscribe(states)
  const settled = async (ms = 0) => {
    for (let turn = 0; turn < 50; turn++) await clock.advance(0)
    await clock.advance(ms)
    for (let turn = 0; turn < 50; turn++) await clock.advance(0)
  }
  const close = async () => {
    await states.close()
    await node.close()
  }
  return { node, states, clock, log, settled, close }
}

test('keys go to the partitions that every Kafka broker computes', () => {
  deepStrictEqual(['', 'hello', 'polygenelubricants', 'grüße'].map(javaHash), [0, 99162322, -2147483648, 98768023])
  deepStrictEqual(
    ['hello', 'polygenelubricants', 'grüße'].map(key => partitionForKey(key, 50)),
    [22, 0, 23],
  )
})

test('the topic is created when it is first needed, with no more replicas than there are brokers', async () => {
  const { node, states, settled, close } = await register({ partitions: 3 })
  strictEqual(states.exists, false)
  throws(() => states.state('a'), failsWith(ErrorCode.NOT_COORDINATOR))
  await Promise.all([states.ensureTopic(), states.ensureTopic()])
  await settled()
  strictEqual(states.served.length, 3)
  deepStrictEqual(node.partition('__register', 2).isr, [1])
  await states.ensureTopic()
  await close()
})

test('a partition answers that it is loading until its state is complete', async () => {
  let loading: unknown
  const { states, settled, close } = await register({
    onCreate(states) {
      throws(() => states.state('a'), failsWith(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
      loading = states.loading
    },
  })
  await states.ensureTopic()
  await settled()
  strictEqual(loading, true)
  strictEqual(states.state('a').current, true)
  strictEqual(states.loading, false)
  await close()
})

test('writes of one turn share a batch and a sync, and are found again after a crash', async () => {
  const fs = new MemoryFileSystem()
  const options = { fs, clusterId: randomUuid() }
  const first = await register(options)
  await first.states.ensureTopic()
  await first.settled()
  const loaded = first.states.state('a')
  const syncs = fs.syncs
  await Promise.all(
    ['1', '2', '3'].map(value => first.states.write(loaded, [bytes('a', value), bytes(`k${value}`, value)])),
  )
  strictEqual(fs.syncs - syncs <= 2, true, `${fs.syncs - syncs} syncs`)
  const last = await first.node.partition('__register').log.lastBatch()
  deepStrictEqual([last?.baseOffset, last?.lastOffset], [0, 5])
  await first.states.write(loaded, [bytes('k1', null)])
  fs.crash(seededRandom(1))
  const second = await register(options)
  await second.settled()
  deepStrictEqual(Object.fromEntries(second.states.state('a').state.values), { a: '3', k2: '2', k3: '3' })
  await second.close()
})

test('a write that the topic does not accept is refused before it counts', async () => {
  const { states, settled, close } = await register()
  await states.ensureTopic()
  await settled()
  const loaded = states.state('a')
  const large = [bytes('a', 'x'.repeat(1000))]
  strictEqual(states.refusal(loaded, large)?.errorCode, ErrorCode.RECORD_LIST_TOO_LARGE)
  await rejects(states.write(loaded, large), failsWith(ErrorCode.RECORD_LIST_TOO_LARGE))
  strictEqual(states.refusal(loaded, [bytes('a', 'x')]), undefined)
  strictEqual(loaded.current, true)
  await close()
})

test('after a failed write the state is thrown away and loaded again, and the old one takes nothing more', async () => {
  const fs = new MemoryFileSystem()
  const { states, log, settled, close } = await register({ fs })
  await states.ensureTopic()
  await settled()
  const loaded = states.state('a')
  await states.write(loaded, [bytes('a', '1')])
  fs.failWhen = ({ name, path }) => (name === 'sync' && path.includes('__register') ? new Error('no disk') : undefined)
  const [one, two] = [states.write(loaded, [bytes('a', '2')]), states.write(loaded, [bytes('b', '2')])]
  await rejects(one, failsWith(ErrorCode.NOT_COORDINATOR))
  await rejects(two, failsWith(ErrorCode.NOT_COORDINATOR))
  strictEqual(loaded.current, false)
  await rejects(states.write(loaded, [bytes('c', '3')]), failsWith(ErrorCode.NOT_COORDINATOR))
  throws(() => states.state('a'), failsWith(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
  fs.failWhen = () => undefined
  await settled(120_000)
  strictEqual(states.state('a').state.values.has('c'), false)
  deepStrictEqual(log, ['loaded 0', 'unloaded 0', 'loaded 0'])
  await states.write(states.state('a'), [bytes('a', '4')])
  await close()
})

test('transactional writes count with their marker, and `appended` is called in the order of the log', async () => {
  const fs = new MemoryFileSystem()
  const options = { fs, clusterId: randomUuid() }
  const first = await register(options)
  await first.states.ensureTopic()
  await first.settled()
  const loaded = first.states.state('a')
  const partition = first.node.partition('__register')
  const ends: number[] = []
  const appended = () => ends.push(partition.log.logEndOffset)
  await Promise.all([
    first.states.write(loaded, [bytes('a', '1')], { transaction: { producerId: 7n, producerEpoch: 0 }, appended }),
    first.states.write(loaded, [bytes('b', '1')], { appended }),
    first.states.write(loaded, [bytes('c', '1')], { transaction: { producerId: 8n, producerEpoch: 0 }, appended }),
  ])
  deepStrictEqual(ends, [1, 2, 3])
  const { leaderEpoch } = partition
  const end = { producerEpoch: 0, coordinatorEpoch: 0, timestamp: 0n, leaderEpoch, offset: 0 }
  for (const marker of [
    buildEndMarker({ ...end, type: 'commit', producerId: 7n }),
    buildEndMarker({ ...end, type: 'abort', producerId: 8n }),
  ])
    await partition.log.appendAsLeader(marker, { leaderEpoch, origin: 'coordinator' })
  await first.close()
  const second = await register(options)
  await second.settled()
  deepStrictEqual(Object.fromEntries(second.states.state('a').state.values), { a: '1', b: '1' })
  await second.close()
})

test('a fenced producer is refused alone', async () => {
  const { states, settled, close } = await register()
  await states.ensureTopic()
  await settled()
  const loaded = states.state('a')
  await states.write(loaded, [bytes('a', '1')], { transaction: { producerId: 7n, producerEpoch: 5 } })
  const old = states.write(loaded, [bytes('a', '0')], { transaction: { producerId: 7n, producerEpoch: 4 } })
  const other = states.write(loaded, [bytes('b', '1')])
  await rejects(old, failsWith(ErrorCode.INVALID_PRODUCER_EPOCH))
  await other
  strictEqual(loaded.current, true)
  await close()
})

test('a deleted topic ends its states', async () => {
  const { node, states, log, settled, close } = await register()
  await states.ensureTopic()
  await settled()
  await node.controller.deleteTopics([{ name: '__register', topicId: 'AAAAAAAAAAAAAAAAAAAAAA' as never }])
  throws(() => states.state('a'), failsWith(ErrorCode.NOT_COORDINATOR))
  deepStrictEqual(log, ['loaded 0', 'unloaded 0'])
  await close()
})

test('whatever fails and crashes, an acknowledged write is there and a refused one is whole or absent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), async seed => {
      const random = seededRandom(seed)
      const fs = new MemoryFileSystem()
      const options = { fs, clusterId: randomUuid() }
      let current = await register(options)
      await current.states.ensureTopic()
      await current.settled()
      /** Last value known to be durable, and those that may be. */
      const sure = new Map<string, string>()
      const possible = new Map<string, Set<string>>()
      let next = 0
      for (let step = 0; step < 12; step++) {
        const failing = random() < 0.3
        fs.failWhen = ({ name, path }) =>
          failing && path.includes('__register') && (name === 'sync' || name === 'write') && random() < 0.5
            ? new Error('no disk')
            : undefined
        const writes = Array.from({ length: 1 + Math.floor(random() * 4) }, async () => {
          const [key, value] = [`k${Math.floor(random() * 3)}`, String(next++)]
          const { states } = current
          const candidates = possible.get(key) ?? new Set()
          possible.set(key, candidates)
          try {
            const loaded = states.state(key)
            loaded.state.values.set(key, value)
            const written = states.write(loaded, [bytes(key, value)])
            candidates.add(value)
            await written
            sure.set(key, value)
            for (const other of candidates) if (Number(other) <= Number(value)) candidates.delete(other)
          } catch (error) {
            if (!(error instanceof CoordinatorError)) throw error
          }
        })
        await Promise.all(writes)
        fs.failWhen = () => undefined
        if (random() < 0.3) {
          fs.crash(random)
          current = await register(options)
        }
        await current.settled(200_000)
        const { values } = current.states.state('').state
        for (const key of ['k0', 'k1', 'k2']) {
          const found = current.log.length > 0 ? values.get(key) : undefined
          if (current.states.served.length === 0 || found === undefined) continue
          const fine = found === sure.get(key) || possible.get(key)?.has(found)
          if (!fine) throw new Error(`${key} is ${found}, not ${sure.get(key)} or ${[...(possible.get(key) ?? [])]}`)
        }
      }
      await current.close()
      const last = await register(options)
      await last.settled(200_000)
      const { values } = last.states.state('').state
      for (const [key, value] of sure) {
        const found = values.get(key)
        const fine = found === value || (found !== undefined && possible.get(key)?.has(found))
        if (!fine) throw new Error(`in the end ${key} is ${found}, not ${value}`)
      }
      await last.close()
    }),
    { numRuns: 15 },
  )
})
