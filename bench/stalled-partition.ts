/**
 * What other partitions keep of their rate while the disk hangs under one: `node bench/stalled-partition.ts [seconds]` (default
 * 60). Broker, listener and clients run in this process; files are in memory, so that only the stall differs.
 */
import { TestNode } from '../src/broker/fakes/test-node.ts'
import { systemClock } from '../src/core/clock.ts'
import { silentLogger } from '../src/core/logger.ts'
import { listen } from '../src/network/server-listener.ts'
import { produceMany, type RawTopic } from '../test/hostile/raw-topic.ts'
import { StallableFileSystem } from '../test/hostile/stallable-file-system.ts'

const STALL_MS = Number(process.argv[2] ?? 60) * 1000
const RECORD_BYTES = 1000
const PARTITIONS = 4
const STUCK_PRODUCERS = 20
const RATE_KEPT_MIN = 0.8

const fs = new StallableFileSystem()
const node = await TestNode.start({ fs, clock: systemClock, directory: '/data' })
const configs = { 'segment.bytes': String(1 << 20), 'retention.bytes': String(4 << 20) }
await node.createTopic('orders', { partitions: PARTITIONS, configs })
const { served, handle: handler } = node.broker
const listener = { host: '127.0.0.1', port: 0, name: 'PLAINTEXT', maxRequestBytes: 1 << 20, idleTimeoutMs: -1 }
const server = await listen({ ...listener, served, handler, clock: systemClock, logger: silentLogger })
const partition = (index: number): RawTopic => ({ port: server.port, name: 'orders', partition: index })

interface Phase {
  readonly perSecond: number
  /** CPU of broker and clients together: what other processes of the machine do not disturb. */
  readonly cpuMsPerWrite: number
  /** Part of the time in which the process had something to do: with 100 % it waits for nothing but the machine. */
  readonly busyPercent: number
  readonly residentMib: number
}

/** Acknowledged writes per second of all partitions but the first, and the most memory that the process had. */
async function writesFor(ms: number): Promise<Phase> {
  const startMs = performance.now()
  const cpuBefore = process.cpuUsage()
  const loopBefore = performance.eventLoopUtilization()
  let written = 0
  let resident = 0
  const writers = Array.from({ length: PARTITIONS - 1 }, async (_, i) => {
    for (; performance.now() - startMs < ms; written += 50) {
      await produceMany(partition(i + 1), 50, RECORD_BYTES)
      resident = Math.max(resident, process.memoryUsage.rss())
    }
  })
  await Promise.all(writers)
  const cpu = process.cpuUsage(cpuBefore)
  return {
    perSecond: (written * 1000) / (performance.now() - startMs),
    cpuMsPerWrite: (cpu.user + cpu.system) / 1000 / written,
    busyPercent: Math.round(100 * performance.eventLoopUtilization(loopBefore).utilization),
    residentMib: Math.round(resident / (1 << 20)),
  }
}

await writesFor(5000)
const before = await writesFor(STALL_MS / 4)
const release = fs.stall('/data/orders-0/')
const stuck = Promise.all(Array.from({ length: STUCK_PRODUCERS }, () => produceMany(partition(0), 500, RECORD_BYTES)))
const during = await writesFor(STALL_MS)
release()
await stuck
const after = await writesFor(STALL_MS / 4)
await server.close()
await node.close()

const kept = during.perSecond / Math.max(before.perSecond, after.perSecond)
const line = (what: string, { perSecond, cpuMsPerWrite, busyPercent, residentMib }: Phase): void => {
  const cpu = `${cpuMsPerWrite.toFixed(2)} ms of CPU per write, busy ${busyPercent} %`
  console.log(`${what.padEnd(32)} ${perSecond.toFixed(0)} writes/s, ${cpu}, ${residentMib} MiB`)
}
line('before', before)
line(`one partition stalled for ${STALL_MS / 1000} s`, during)
line('after', after)
console.log(
  `bar: ${RATE_KEPT_MIN * 100} % of the rate kept; ${(100 * kept).toFixed(0)} %: ${kept < RATE_KEPT_MIN ? 'MISSED' : 'met'}`,
)
