/** Puts answers of partitions under their topics, in the order in which topics come first; handlers of share requests call it. */
import type { Uuid } from '../../core/uuid.ts'

export function byTopicId<P extends { readonly topicId: Uuid }, A>(
  partitions: readonly P[],
  answerOf: (partition: P) => A,
): { topicId: Uuid; partitions: A[] }[] {
  const topics = new Map<Uuid, A[]>()
  for (const partition of partitions) {
    const answers = topics.get(partition.topicId)
    if (answers) answers.push(answerOf(partition))
    else topics.set(partition.topicId, [answerOf(partition)])
  }
  return Array.from(topics, ([topicId, answers]) => ({ topicId, partitions: answers }))
}
