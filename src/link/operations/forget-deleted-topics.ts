/** A mirror ends with its topic, and is listed further only if it was STOPPED; called by the reconciler. */
import type { StateRecord } from '../ports.ts'
import { tombstone } from '../state-records/record-codec.ts'
import type { OperationContext } from './operation-context.ts'

export async function forgetDeletedTopics(context: OperationContext): Promise<void> {
  const { desired, destination, changes, logger } = context
  for (const { linkId, mirrorTopic, topicId, state } of [...desired.mirrors()]) {
    if (state === 'STOPPED' || destination.topicById(topicId) || desired.problemOf(linkId) !== undefined) continue
    await context.runtime(linkId)?.stopFetching(mirrorTopic)
    // A mirror of the same name may have been created meanwhile.
    if (desired.mirror(linkId, mirrorTopic)?.topicId !== topicId) continue
    // First what is not in the record: a topic of the same name would be born fenced.
    await destination.fence.forget(mirrorTopic)
    await changes.transition({ linkId, mirrorTopic, topicId }, { event: 'delete', reason: 'its topic was deleted' })
    logger.info('a mirror ended with its topic', { topic: mirrorTopic })
  }
  const epochs: StateRecord[] = []
  for (const topicId of [...desired.topicsWithEpochs()]) {
    if (destination.topicById(topicId)) continue
    epochs.push(...desired.epochKeysOf(topicId).map(tombstone))
  }
  await context.journal.append(epochs)
}
