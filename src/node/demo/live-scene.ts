/** The demo on its own: west, east, a producer at a steady rate, a link and a mirror, shown live until Ctrl-C. Called by run-demo. */
import { sleep } from '../../core/clock.ts'
import { type DemoStage, unexpectedEnd } from './demo-stage.ts'
import { countText, megabytesText } from './figures-text.ts'
import type { NodeProcess } from './node-process.ts'
import { OrderProducer } from './order-producer.ts'
import { readyCommands } from './ready-commands.ts'
import { TopicClient } from './topic-client.ts'
import { MirrorWatch } from './watch-mirror.ts'

const TOPIC = 'orders'
const LINK = 'west'
const PARTITIONS = 4
const RECORDS_PER_SECOND = 4000
const TICK_MS = 100
/** The demo may run for hours, and its data may lie in memory. */
const PRODUCED_BYTES_MAX = 512 * 1024 * 1024

/** Resolves when the stage ends. Rejects with DemoError when east or the producer fails. */
export async function playLive(stage: DemoStage): Promise<void> {
  const { io, clock, random } = stage
  io.out('Lockstep demo: node "west" is the source, node "east" mirrors it.\n')
  const [west, east] = await Promise.all([stage.startNode('west', 1), stage.startNode('east', 2)])
  for (const node of [west, east]) io.out(`  ${nodeLine(node)}\n`)
  io.out(`  data  ${stage.folder}\n`)

  await west.rest.createTopic(TOPIC, PARTITIONS)
  const client = await TopicClient.connect(west.kafka, TOPIC, clock)
  try {
    await east.rest.createLink(LINK, west.kafka, west.clusterId)
    await east.rest.createMirror(LINK, TOPIC)
    const source = { name: west.name, pid: west.pid }
    const places = { url: east.rest.origin, kafka: east.kafka, link: LINK, topic: TOPIC, entry: stage.entry, source }
    io.out(
      `\nTry in another terminal:\n${readyCommands(places)
        .map(line => `  ${line}\n`)
        .join('')}\n`,
    )
    await play(stage, { west, east, producer: new OrderProducer(client, { clock, random }) })
  } finally {
    client.close()
  }
}

async function play(
  stage: DemoStage,
  { west, east, producer }: { west: NodeProcess; east: NodeProcess; producer: OrderProducer },
): Promise<void> {
  let note = 'The producer writes to west'
  const watch = new MirrorWatch(stage, {
    node: east,
    link: LINK,
    topic: TOPIC,
    footer: () => [
      `${note}: ${countText(producer.records)} orders, ${megabytesText(producer.bytes)} MB, all codecs in turn.`,
    ],
  })
  const westLost = west.ended.then(async reason => {
    // Ctrl-C reaches the nodes as well, maybe before us.
    await sleep(stage.clock, SIGNAL_SPREAD_MS, stage.signal)
    if (west.endExpected || stage.signal.aborted) return
    note = 'West is lost'
    watch.print(`West has ended (${reason}): fail over with the command above.`)
  })
  const producing = producer
    .stream({
      recordsPerSecond: RECORDS_PER_SECOND,
      tickMs: TICK_MS,
      bytesMax: PRODUCED_BYTES_MAX,
      signal: stage.signal,
    })
    .then(full => {
      if (full) note = 'The producer stopped to spare the disk'
    })
    .catch(async error => {
      if (stage.signal.aborted || !(await endsSoon(stage, west))) throw error
      await westLost
    })
  // Nothing but the end of the stage ends the watch; failures of the others end all.
  await Promise.race([watch.run(), unexpectedEnd(east), failureOf(producing)])
}

const FAILURE_EXPLAINED_MS = 1000
const SIGNAL_SPREAD_MS = 100

/** A broken connection is noticed before the end of the process at its other side. */
function endsSoon(stage: DemoStage, node: NodeProcess): Promise<boolean> {
  return new Promise(resolve => {
    const timer = stage.clock.after(FAILURE_EXPLAINED_MS, () => resolve(false))
    void node.ended.then(() => {
      timer.cancel()
      resolve(true)
    })
  })
}

/** Never resolves; rejects like `work`. */
const failureOf = (work: Promise<void>): Promise<never> => work.then(() => new Promise<never>(() => {}))

export const nodeLine = (node: NodeProcess): string =>
  `${node.name}  process ${node.pid}  Kafka ${node.kafka}  REST ${node.rest.origin}`
