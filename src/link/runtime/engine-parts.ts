/** What every part of the engine shares; made once by the engine. */
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Random } from '../../core/random.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { MirrorTopicConfigs } from '../configs/mirror-topic-configs.ts'
import type { KeyedQueues } from '../coordination/keyed-queues.ts'
import type { LinkChanges } from '../coordination/link-changes.ts'
import type { MirrorChanges } from '../coordination/mirror-changes.ts'
import type { StateJournal } from '../coordination/state-journal.ts'
import type { IncidentCounts } from '../mirror/incident-counts.ts'
import type { PeerNodes } from '../nodes/peer-nodes.ts'
import type { Destination, SecretBox, SourceClusterFactory, TailExports } from '../ports.ts'
import type { DesiredState } from '../replay/desired-state.ts'
import type { DiscoveredTopic } from '../source-topics/discovered-topic.ts'
import type { KnownChains } from '../status/known-chains.ts'

export interface EngineParts {
  readonly desired: DesiredState
  readonly journal: StateJournal
  readonly changes: MirrorChanges
  readonly linkChanges: LinkChanges
  /** Operations on one name run one after the other. */
  readonly operations: KeyedQueues
  readonly destination: Destination
  /** Of mirrors; nothing else reads or sets theirs. */
  readonly topicConfigs: MirrorTopicConfigs
  readonly sources: SourceClusterFactory
  /** For secrets of links; without it there can be none. */
  readonly secrets: SecretBox | undefined
  /** For what restores cut off; without it nothing can be exported. */
  readonly tailExports: TailExports | undefined
  readonly incidents: IncidentCounts
  /** What is behind the mirrors of this cluster. */
  readonly chains: KnownChains
  /** Creates a mirror that nobody asked for by name, if it still may be; see createDiscoveredMirror. */
  readonly createDiscovered: (linkId: Uuid, discovered: DiscoveredTopic, signal: AbortSignal) => Promise<void>
  /** The link has the id of its other half from then on, unless it has mirrors; resolves to whether it has. */
  readonly adoptPeerId: (linkId: Uuid, peerId: Uuid) => Promise<boolean>
  /** Other nodes of this cluster that mirror what they lead. */
  readonly peers: PeerNodes
  /** Is this node the link coordinator? Others mirror what they lead, and leave everything else alone. */
  readonly coordinates: () => boolean
  /** How long a reverse waits for transactions that are open in the topic. */
  readonly reverseTransactionWaitMs: number
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}
