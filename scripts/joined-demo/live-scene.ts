/** The joined demo until Ctrl-C: a producer at a steady rate, the mirror, and what Kafka's own brokers have of it. Called by scripts/joined-demo. */
import { sleep } from '../../src/core/clock.ts'
import { type DemoStage, unexpectedEnd } from '../../src/node/demo/demo-stage.ts'
import { countText, megabytesText } from '../../src/node/demo/figures-text.ts'
import { nodeLine } from '../../src/node/demo/live-scene.ts'
import { OrderProducer } from '../../src/node/demo/order-producer.ts'
import { readyCommands } from '../../src/node/demo/ready-commands.ts'
import { MirrorWatch } from '../../src/node/demo/watch-mirror.ts'
import { type JoinedSet, setUp, VERSION } from './joined-set.ts'
import { placesOf, recordsAt } from './topic-places.ts'

const PACE = { recordsPerSecond: 4000, tickMs: 100, bytesMax: 512 * 1024 * 1024 }
const LOOK_PERIOD_MS = 1000

/** Resolves when the stage ends. Rejects when the node or the producer fails. */
export async function playJoinedLive(stage: DemoStage): Promise<undefined> {
  const set = await setUp(stage)
  try {
    await set.node.rest.createMirror(set.mirror.link, set.mirror.topic)
    introduce(stage, set)
    await play(stage, set)
  } finally {
    await set.close()
  }
}

function introduce(stage: DemoStage, { source, cluster, node, mirror }: JoinedSet): void {
  const { io, entry, folder } = stage
  const controller = cluster.nodes.find(({ isBroker }) => !isBroker)
  io.out(`Lockstep demo: a node has joined an Apache Kafka ${VERSION} cluster and mirrors ${mirror.topic} into it.
  source    process ${source.node(1).pid}  Apache Kafka ${VERSION}, ${source.bootstrap}
  cluster   process ${controller?.pid}  controller ${controller?.id}, ${cluster.controllerAddresses}
${cluster.brokers.map(({ id, pid, address }) => `            process ${pid}  broker ${id}, ${address}\n`).join('')}  ${nodeLine(node)}, broker 1001 of the cluster
  data      ${folder}\n`)
  const places = {
    url: node.rest.origin,
    kafka: cluster.brokers[0]?.address ?? '',
    link: mirror.link,
    topic: mirror.topic,
    entry,
    source: { name: 'the source', pid: source.node(1).pid ?? 0 },
  }
  const lines = [
    '# who leads, who is in sync',
    `kcat -b ${places.kafka} -L -t ${mirror.topic}`,
    ...readyCommands(places),
  ]
  io.out(`\nTry in another terminal:\n${lines.map(line => `  ${line}\n`).join('')}\n`)
}

async function play(stage: DemoStage, set: JoinedSet): Promise<void> {
  const { clock, random, signal } = stage
  const producer = new OrderProducer(set.client, { clock, random })
  let replicas = 'Asking the brokers of the cluster.'
  const isAlive = () => set.source.node(1).pid !== undefined
  const note = () => (isAlive() ? 'The producer writes to the source' : 'The source is lost: fail over')
  const watch = new MirrorWatch(stage, {
    ...set.mirror,
    footer: () => [
      replicas,
      `${note()}: ${countText(producer.records)} orders, ${megabytesText(producer.bytes)} MB, all codecs in turn.`,
    ],
  })
  const looking = async () => {
    while (!signal.aborted) {
      replicas = await replicasText(stage, set).catch(() => replicas)
      await sleep(clock, LOOK_PERIOD_MS, signal)
    }
  }
  const producing = producer.stream({ ...PACE, signal }).catch(async error => {
    // A connection is closed before the process behind it has ended.
    await sleep(clock, LOOK_PERIOD_MS, signal)
    if (isAlive() && !signal.aborted) throw error
  })
  void looking()
  const untilFailure = producing.then(() => new Promise<never>(() => {}))
  await Promise.race([watch.run(), unexpectedEnd(set.node), untilFailure])
}

/** What the cluster's own brokers have. */
async function replicasText({ clock }: DemoStage, { cluster, mirror }: JoinedSet): Promise<string> {
  const { topic } = mirror
  const places = await placesOf(cluster.brokers[0]?.address ?? '', topic, clock)
  const size = { topic, partitions: places.length, clock }
  const texts = await Promise.all(
    cluster.brokers.map(async ({ id, address }) => `broker ${id} has ${countText(await recordsAt(address, size))}`),
  )
  const inSync = new Set(places.map(({ isr }) => [...isr].sort((a, b) => a - b).join(', ')))
  const leaders = new Set(places.map(({ leaderId }) => leaderId))
  return `In Kafka: ${texts.join(', ')} records; led by ${[...leaders].join(', ')}, in sync ${[...inSync].join(' or ')}.`
}
