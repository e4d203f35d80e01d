/** Topics of a link's source as REST sees them: whether and why (not) they are mirrored; part of the engine's API. */
import type { MirrorStatus } from './engine-words.ts'

export interface SourceTopicView {
  readonly sourceTopicName: string
  /** The name that its mirror has, or would have. */
  readonly mirrorTopicName: string
  /** 0 = the source does not show such a topic. */
  readonly numPartitions: number
  /** There is a mirror of it that is not stopped. */
  readonly mirrored: boolean
  readonly mirrorStatus: MirrorStatus | null
  /** A code; null = a mirror that follows its source. */
  readonly reason: string | null
  readonly message: string | null
}

export interface TopicExplanation {
  readonly linkName: string
  readonly sourceTopicName: string
  readonly mirrorTopicName: string
  readonly mirrored: boolean
  /** One sentence. */
  readonly conclusion: string
  readonly conditions: readonly {
    readonly name: string
    /** YES = nothing stands in the way here. */
    readonly answer: 'YES' | 'NO' | 'UNKNOWN'
    readonly detail: string
    readonly hint: string | null
  }[]
}

/** A topic that a link would create again as a mirror if it were deleted here. */
export interface ReturningTopic {
  readonly linkName: string
  readonly sourceTopicName: string
  /** At the latest after this, while the source answers. */
  readonly withinMs: number
}

/** Every method throws or rejects with OperationalError. */
export interface SourceTopicsApi {
  /**
   * All that the link's credentials may describe, what is mirrored and what filters name, by name. Rejects with LINK_NOT_FOUND,
   * SOURCE_NOT_AVAILABLE.
   */
  list(link: string): Promise<SourceTopicView[]>
  /** Also while the source does not answer. Rejects with LINK_NOT_FOUND, MIRROR_NAME_NOT_PREFIXED. */
  explain(
    link: string,
    which: { readonly sourceTopic: string } | { readonly mirrorTopic: string },
  ): Promise<TopicExplanation>
  /** As far as this node knows without asking a source. */
  returning(topic: string): ReturningTopic[]
}
