/** Answers about topics of a link's source, and about topics that come back (our own additions, rest-and-cli §B). */
import { type Static, Type } from 'typebox'
import { item, list, nullable } from './envelope.ts'

export const SourceTopicData = item('KafkaSourceTopicData', {
  link_name: Type.String(),
  source_topic_name: Type.String(),
  mirror_topic_name: Type.String(),
  /** 0 = the source does not show such a topic. */
  num_partitions: Type.Integer(),
  /** There is a mirror of it that is not stopped. */
  mirrored: Type.Boolean(),
  mirror_status: nullable(Type.String()),
  /** A code; null = a mirror that follows its source. */
  reason: nullable(Type.String()),
  message: nullable(Type.String()),
})

export type SourceTopicData = Static<typeof SourceTopicData>

export const SourceTopicDataList = list('KafkaSourceTopicDataList', SourceTopicData)
export type SourceTopicDataList = Static<typeof SourceTopicDataList>

export const MirrorExplanation = item('KafkaMirrorExplanation', {
  link_name: Type.String(),
  source_topic_name: Type.String(),
  mirror_topic_name: Type.String(),
  mirrored: Type.Boolean(),
  conclusion: Type.String(),
  conditions: Type.Array(
    Type.Object({
      name: Type.String(),
      /** YES = nothing stands in the way here. */
      answer: Type.Union([Type.Literal('YES'), Type.Literal('NO'), Type.Literal('UNKNOWN')]),
      detail: Type.String(),
      hint: nullable(Type.String()),
    }),
  ),
})
export type MirrorExplanation = Static<typeof MirrorExplanation>

/** The answer to the deletion of a topic when `report=true` asks for one. */
export const TopicDeletionReport = Type.Object({
  warnings: Type.Array(Type.String()),
  /** Links that create the topic again as a mirror. */
  comes_back: Type.Array(
    Type.Object({ link_name: Type.String(), source_topic_name: Type.String(), within_ms: Type.Integer() }),
  ),
})
export type TopicDeletionReport = Static<typeof TopicDeletionReport>
