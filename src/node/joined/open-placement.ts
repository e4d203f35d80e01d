/** Wires what decides where partitions live in a joined cluster: the evictor, the watch over mirrors, the keepers of own topics and of stand-ins, the mover; called by the start. */
import { Evictor } from '../../controller/joined/placement/evictor.ts'
import { javaReplicas } from '../../controller/joined/placement/java-replicas.ts'
import { MirrorMover } from '../../controller/joined/placement/mirror-mover.ts'
import { MirrorWatch } from '../../controller/joined/placement/mirror-watch.ts'
import { OwnTopicKeeper } from '../../controller/joined/placement/own-topic-keeper.ts'
import { StandInKeeper } from '../../controller/joined/placement/stand-in-keeper.ts'
import { type TopicOwnersOptions, topicOwners } from '../../controller/joined/placement/topic-owner.ts'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Random } from '../../core/random.ts'
import type { Uuid } from '../../core/uuid.ts'
import { configLayers } from '../../metadata/config-resolution.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { minInsyncReplicas } from '../../metadata/topic-settings.ts'
import type { MetricsSource } from '../../rest/ports.ts'
import type { Startup } from '../startup.ts'
import { placementMetrics } from './placement-metrics.ts'

export interface PlacementParts {
  readonly nodeId: number
  /** The server's properties. */
  readonly file: ReadonlyMap<string, string>
  readonly controller: Controller
  readonly statusOf: TopicOwnersOptions['statusOf']
  /** Why this node may not lead a partition of a mirror again, if it may not. */
  readonly leadingProblem: (topicId: Uuid, partition: number) => string | undefined
  /** Is it a mirror that is neither on its way to become one nor to stop? */
  readonly isMirroring: (topicId: Uuid) => boolean
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

export interface Placement {
  readonly evictor: Evictor
  readonly watch: MirrorWatch
  readonly mover: MirrorMover
  readonly metrics: MetricsSource
}

/** They act from now on, whether or not this node is registered: what an earlier life left here goes too. */
export async function openPlacement(parts: PlacementParts, startup: Startup): Promise<Placement> {
  const { nodeId: brokerId, file, controller, statusOf, leadingProblem, isMirroring, clock, random } = parts
  const logger = parts.logger.child({ component: 'placement' })
  const ownerOf = topicOwners({ image: () => controller.image, statusOf, clock })
  const shared = { brokerId, controller, ownerOf, clock, logger }
  const evictor = new Evictor({ ...shared, random })
  const watch = new MirrorWatch({ ...shared, leadingProblem })
  const keeper = new OwnTopicKeeper(shared)
  for (const each of [evictor, watch, keeper]) {
    await controller.subscribe(each)
    startup.onStop(each.name, () => each.close())
    each.start()
  }
  const standIns = new StandInKeeper({ ...shared, isMirroring: ({ id }) => isMirroring(id) })
  startup.onStop('stand-ins', () => standIns.close())
  standIns.start()
  const mover = new MirrorMover({ controller, ownerOf })
  const minInsync = (topic: string) => minInsyncReplicas(configLayers(controller.image, { brokerId, file, topic }))
  const metrics = placementMetrics({
    evictor,
    watch,
    javaReplicas: () => {
      const { image } = controller
      const mirrors = image.topics.values().filter(topic => ownerOf(topic) === 'mirror')
      return javaReplicas({ image, leader: brokerId, mirrors, minInsync })
    },
  })
  return { evictor, watch, mover, metrics }
}
