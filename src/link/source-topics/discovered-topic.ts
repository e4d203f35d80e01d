/** What a source has said about a topic that is to be mirrored; the creation of mirrors decides with it. */
import type { SourceTopic, SourceTopicConfig } from '../ports.ts'
import type { SourceStatusView } from '../status/source-chain.ts'

export interface DiscoveredTopic {
  readonly clusterId: string
  readonly topic: SourceTopic
  /** What its cluster publishes of its mirrors. */
  readonly view: SourceStatusView
  /** Its configs as its cluster describes them. */
  readonly described: ReadonlyMap<string, SourceTopicConfig>
}
