/** Starts a node, of either kind: one that is a cluster of its own, or one that joins a Kafka cluster. `lockstep server` and the demo call it. */
import { startJoinedNode } from './joined/start-joined-node.ts'
import type { NodeEnvironment, RunningNode } from './running-node.ts'
import type { NodeSettings } from './settings.ts'
import { startStandaloneNode } from './standalone/start-standalone-node.ts'
import { Startup } from './startup.ts'

/** Rejects with the first problem, having stopped what had been started. */
export async function startNode(settings: NodeSettings, environment: NodeEnvironment): Promise<RunningNode> {
  const startup = new Startup()
  const { joined } = settings
  try {
    return joined
      ? await startJoinedNode({ ...settings, joined }, environment, startup)
      : await startStandaloneNode(settings, environment, startup)
  } catch (error) {
    await startup.stop()
    throw error
  }
}
