/** The demo with somebody's own Kafka: only east is started and mirrors one topic of it, shown live until Ctrl-C. Called by run-demo. */
import { type DemoStage, unexpectedEnd } from './demo-stage.ts'
import { nodeLine } from './live-scene.ts'
import { readyCommands } from './ready-commands.ts'
import { MirrorWatch } from './watch-mirror.ts'

const LINK = 'source'

/** Resolves when the stage ends. Rejects with DemoError when the source cannot be mirrored or east fails. */
export async function playFollow(stage: DemoStage, source: { bootstrap: string; topic: string }): Promise<void> {
  const { io } = stage
  const { bootstrap, topic } = source
  io.out(`Lockstep demo: node "east" mirrors ${topic} from ${bootstrap}, which is only read.\n`)
  const east = await stage.startNode('east', 1)
  io.out(`  ${nodeLine(east)}\n  data  ${stage.folder}\n`)
  await east.rest.createLink(LINK, bootstrap)
  await east.rest.createMirror(LINK, topic)
  const places = { url: east.rest.origin, kafka: east.kafka, link: LINK, topic, entry: stage.entry }
  io.out(
    `\nTry in another terminal:\n${readyCommands(places)
      .map(line => `  ${line}\n`)
      .join('')}\n`,
  )
  const footer = () => []
  const watch = new MirrorWatch(stage, { node: east, link: LINK, topic, footer })
  await Promise.race([watch.run(), unexpectedEnd(east)])
}
