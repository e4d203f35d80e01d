/** Port: may this node's own retention delete from a topic? Log retention asks; the link destination answers; neither knows the other. */
import type { RetentionLimits } from '../core/retention-limits.ts'
import type { Uuid } from '../core/uuid.ts'

export interface RetentionGate {
  /** False while something else drives the log start, or while that is not known yet. Answers from memory, synchronously. */
  mayDelete(topicId: string, topic: string): boolean
  /** What is meant where the topic has other values for the time being; undefined = the topic's own hold. */
  limitsOf(topicId: Uuid): RetentionLimits | undefined
}
