/** The link engine of a joined node: its topics in the cluster, the cluster as its destination. Called by the start. */
import { CoordinatorTerms } from '../../destination/joined/coordinator-terms.ts'
import { InboxReader } from '../../destination/joined/inbox-reader.ts'
import type { JoinedDestination } from '../../destination/joined/joined-destination.ts'
import { JoinedStateTopic } from '../../destination/joined/joined-state-topic.ts'
import { MirrorLogService } from '../../destination/joined/mirror-log-service.ts'
import { NetworkTopicLog } from '../../destination/joined/network-topic-log.ts'
import { OwnTopic } from '../../destination/joined/own-topic.ts'
import { PeerLogs } from '../../destination/joined/peer-logs.ts'
import type { ProposalSignatures } from '../../destination/joined/proposal-codec.ts'
import { TopicWriter } from '../../destination/joined/topic-writer.ts'
import { keptTopicConfigs, stateTopicName } from '../../destination/state-topic.ts'
import { type Engine, statusTopicName } from '../../link/index.ts'
import type { WriteStatus } from '../../link/ports.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import type { Forwarding } from '../../rest/ports.ts'
import type { KafkaSourceOptions } from '../../source/source-cluster.ts'
import { linkEngine } from '../link-engine.ts'
import type { Startup } from '../startup.ts'
import { type DestinationParts, openDestination } from './open-destination.ts'
import { PeerCallService } from './peer-call-service.ts'
import { PeerCalls } from './peer-calls.ts'

const INBOX_TOPIC = '__lockstep_inbox'

/** What the link coordinator publishes, and what is proposed to it, is produced over the network. */
export const topicsOfNodes: ReadonlySet<string> = new Set([statusTopicName, INBOX_TOPIC])

/** Proposals are worth nothing a moment later. */
const inboxConfigs: ReadonlyMap<string, string> = new Map([
  ['cleanup.policy', 'delete'],
  ['retention.ms', String(60 * 60 * 1000)],
  ['segment.ms', String(60 * 60 * 1000)],
])

/** What is made hears of the cluster's metadata, behind the replicas. */
export async function joinedLinks(
  of: Omit<DestinationParts, 'coordinates' | 'fences' | 'peerLogs'> & {
    readonly forwarding: Forwarding
    readonly proposalSignatures: ProposalSignatures
    readonly observe: NonNullable<KafkaSourceOptions['observe']>
  },
  startup: Startup,
): Promise<{
  readonly engine: Engine
  readonly destination: JoinedDestination
  readonly peerCalls: PeerCallService
}> {
  const { controller, forwarding, settings } = of
  const stateLog = stateTopic(of)
  const coordinates = () => stateLog.leadership.term !== undefined
  await controller.subscribe(stateLog)
  const term = () => stateLog.leadership.term
  const peers = new PeerCalls({ nodeId: settings.nodeId, image: () => controller.image, term, forwarding })
  const peerLogs = new PeerLogs({ send: (node, requests) => peers.logs(node, requests) })
  const destination = await openDestination({ ...of, peerLogs, coordinates, fences: () => engine.fences }, startup)
  const statusLog = new NetworkTopicLog({
    ...of,
    ...ownTopic(of, { name: statusTopicName, configs: keptTopicConfigs }),
  })
  const engine = await linkEngine({ ...of, stateLog, statusLog, destination, peers })
  return { engine, destination, peerCalls: peerCallService(controller, { engine, destination }) }
}

function peerCallService(
  controller: Pick<Controller, 'image'>,
  { engine, destination }: { readonly engine: Engine; readonly destination: JoinedDestination },
): PeerCallService {
  const terms = new CoordinatorTerms(() => topicByName(controller.image, stateTopicName)?.partitions[0])
  const logs = new MirrorLogService({
    open: (topicId, partition) => destination.openLedLog(topicId, partition),
    endingProblem: topicId => engine.peerService.endingProblem(topicId),
  })
  return new PeerCallService({ terms, engine: engine.peerService, logs })
}

type Parts = Parameters<typeof joinedLinks>[0]

function stateTopic(of: Parts): JoinedStateTopic {
  const { topic: state } = ownTopic(of, { name: stateTopicName, configs: keptTopicConfigs })
  const inbox = ownTopic(of, { name: INBOX_TOPIC, configs: inboxConfigs })
  const signatures = of.proposalSignatures
  const reader = new InboxReader({ ...of, topic: inbox.topic, signatures })
  return new JoinedStateTopic({ ...of, brokerId: of.settings.nodeId, state, inbox: { ...inbox, reader, signatures } })
}

function ownTopic(of: Parts, { name, configs }: { name: string; configs: ReadonlyMap<string, string> }) {
  const topic = new OwnTopic({ ...of, name, configs })
  return { topic, writer: new TopicWriter({ topic, brokers: of.connections, clock: of.clock }) }
}

/** A cluster without state topic has no mirrors: everything may be written. */
export const joinedWriteStatus =
  (of: {
    readonly engine: { writeStatus(topicId: string, topic: string): WriteStatus }
    readonly controller: Pick<Controller, 'image'>
  }) =>
  (topicId: string, topic: string): WriteStatus =>
    of.controller.image.topicIds.has(stateTopicName) ? of.engine.writeStatus(topicId, topic) : { kind: 'writable' }
