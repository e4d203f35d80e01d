/**
 * What thousands of connections and clients that never read cost a node, and what is left for the others:
 * `node bench/connections.ts [connections]` (default 5000; needs two file descriptors per connection).
 */
import { RawClient } from '../src/network/fakes/raw-client.ts'
import { closeAll, introduce, neverRead, openMany } from '../test/hostile/attacks.ts'
import { peakWhile, residentMib } from '../test/hostile/node-memory.ts'
import { createRawTopic, produceMany, type RawTopic, readRange } from '../test/hostile/raw-topic.ts'
import { LockstepNode } from '../test/lockstep-process.ts'

const CONNECTIONS = Number(process.argv[2] ?? 5000)
const SILENT_CLIENTS = 100
const BATCHES = 2000
const BATCH_BYTES = 64 * 1024
const ROUND_MS = 5_000
/** Of each measurement; the best is the one least disturbed by other processes. */
const ROUNDS = 2
const RATE_KEPT_MIN = 0.8

const report = (what: string, figure: string): void => console.log(`${what.padEnd(58)} ${figure}`)

interface Rates {
  /** MB/s read of the topic, over and over. */
  readonly readMbPerS: number
  /** Batches of 1 KB that were acknowledged in the other partition, per second. */
  readonly writesPerS: number
}

/** What an honest reader and an honest writer achieve side by side. */
async function workload(topic: RawTopic): Promise<Rates> {
  let best: Rates = { readMbPerS: 0, writesPerS: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const { readMbPerS, writesPerS } = await oneRound(topic)
    best = {
      readMbPerS: Math.max(best.readMbPerS, readMbPerS),
      writesPerS: Math.max(best.writesPerS, writesPerS),
    }
  }
  return best
}

async function oneRound(topic: RawTopic): Promise<Rates> {
  const endMs = performance.now() + ROUND_MS
  let read = 0
  let written = 0
  const reading = (async () => {
    while (performance.now() < endMs) read += await readRange(topic, 0, BATCHES)
    return performance.now()
  })()
  const writing = (async () => {
    for (; performance.now() < endMs; written += 50) await produceMany({ ...topic, partition: 1 }, 50, 1000)
    return performance.now()
  })()
  const [readEndMs, writeEndMs] = await Promise.all([reading, writing])
  const startMs = endMs - ROUND_MS
  return { readMbPerS: read / 1e3 / (readEndMs - startMs), writesPerS: (written * 1e3) / (writeEndMs - startMs) }
}

const node = await LockstepNode.start()
try {
  const port = Number(node.bootstrap.split(':').at(-1))
  const topic = { port, name: 'big', partition: 0 }
  await createRawTopic(port, topic.name, 2)
  await produceMany(topic, BATCHES, BATCH_BYTES)
  await workload(topic)
  const quiet = await workload(topic)
  const memory = async () => (await residentMib(node.pid)) ?? 0
  const before = await memory()
  report('alone', `${quiet.readMbPerS.toFixed(0)} MB/s read, ${quiet.writesPerS.toFixed(0)} writes/s, ${before} MiB`)

  let startMs = performance.now()
  const clients = await openMany(port, CONNECTIONS)
  report(`${CONNECTIONS} connections opened`, `${(performance.now() - startMs).toFixed(0)} ms`)
  startMs = performance.now()
  for (let at = 0; at < clients.length; at += 500) await Promise.all(clients.slice(at, at + 500).map(introduce))
  report('ApiVersions and Metadata on each', `${(performance.now() - startMs).toFixed(0)} ms`)
  const open = await memory()
  report('memory per connection', `${(((open - before) * 1024) / CONNECTIONS).toFixed(1)} KiB (${open} MiB in all)`)
  const crowded = await workload(topic)
  const kept = (now: Rates) =>
    `read ${((100 * now.readMbPerS) / quiet.readMbPerS).toFixed(0)} %, writes ${((100 * now.writesPerS) / quiet.writesPerS).toFixed(0)} %`
  report(`rate beside ${CONNECTIONS} idle connections`, kept(crowded))
  await closeAll(clients)

  const [peak, [silent, besideSilent]] = await peakWhile(node.pid, async () => {
    const hostile = await neverRead(topic, SILENT_CLIENTS)
    return [hostile, await workload(topic)] as const
  })
  report(`rate beside ${SILENT_CLIENTS} clients that never read`, kept(besideSilent))
  report('largest memory meanwhile', `${peak} MiB (answers may take 256 MiB)`)
  await closeAll(silent)
  const client = await RawClient.connect(port)
  await introduce(client)
  await client.close()
  const rates = [crowded, besideSilent].flatMap(now => [
    now.readMbPerS / quiet.readMbPerS,
    now.writesPerS / quiet.writesPerS,
  ])
  const worst = Math.min(...rates)
  console.log(`bar: ${RATE_KEPT_MIN * 100} % of the rate kept; ${worst < RATE_KEPT_MIN ? 'MISSED' : 'met'}`)
} finally {
  await node.close()
}
