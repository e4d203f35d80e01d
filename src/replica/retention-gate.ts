/** Port: may this node's own retention delete from a topic? Log retention asks; the link destination answers; neither knows the other. */
export interface RetentionGate {
  /** False while something else drives the log start, or while that is not known yet. Answers from memory, synchronously. */
  mayDelete(topicId: string, topic: string): boolean
}
