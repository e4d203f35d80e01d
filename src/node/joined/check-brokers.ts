/** The part of `--check` that is about the other brokers: can this node log in to them, and would it judge clients as they do? */
import { systemClock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { allowAll } from '../../metadata/authorizer.ts'
import { isActiveBroker, javaBrokers } from '../../metadata/lockstep-nodes.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import type { NodeSettings } from '../settings.ts'
import { clusterConnections } from './cluster-connections.ts'
import type { JoinedSettings } from './joined-settings.ts'

export interface BrokersVerdict {
  /** Each must be mended first. */
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

/** Connects to brokers that are alive, and asks nothing. Rejects with TlsMaterialError. */
export async function checkBrokers(
  settings: Pick<NodeSettings, 'nodeId' | 'kafka' | 'authorizer'>,
  joined: JoinedSettings,
  image: MetadataImage,
): Promise<BrokersVerdict> {
  const { failures, reached } = await reach(settings, joined, image)
  const unreached = failures.map(
    ({ id, reason }) => `broker ${id} cannot be reached under its listener ${joined.brokers.name}: ${reason}`,
  )
  const warnings = aclWarnings(settings, image)
  // One that is down, or about to be, keeps nobody from joining.
  return reached > 0 ? { problems: [], warnings: [...unreached, ...warnings] } : { problems: unreached, warnings }
}

async function reach(
  { nodeId, kafka: file }: Pick<NodeSettings, 'nodeId' | 'kafka'>,
  joined: JoinedSettings,
  image: MetadataImage,
) {
  const connections = await clusterConnections({ nodeId, joined, file, image: () => image, clock: systemClock })
  const failures: { id: number; reason: string }[] = []
  const others = javaBrokers(image).filter(broker => isActiveBroker(broker) && broker.id !== nodeId)
  try {
    await Promise.all(
      others.map(({ id }) => connections.to(id).catch(error => failures.push({ id, reason: messageOf(error) }))),
    )
  } finally {
    await connections.close()
  }
  return { failures: failures.sort((a, b) => a.id - b.id), reached: others.length - failures.length }
}

/** A cluster that has ACLs has brokers that keep to them. Also told in the log at the start. */
export function aclWarnings({ authorizer }: Pick<NodeSettings, 'authorizer'>, image: MetadataImage): string[] {
  if (authorizer !== allowAll || image.acls.size === 0) return []
  return [
    `the cluster has ${image.acls.size} ACLs, and this node would let everybody do everything, and mirrors be written where they are led by Kafka brokers: set authorizer.class.name, super.users and allow.everyone.if.no.acl.found as in the files of the brokers`,
  ]
}
