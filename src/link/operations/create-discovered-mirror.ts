/** Creates the mirror of a topic that nobody asked for by name; called by the task AutoCreateMirror. */
import type { Uuid } from '../../core/uuid.ts'
import type { DiscoveredTopic } from '../source-topics/discovered-topic.ts'
import { autoCreateConditions, isObstacle } from '../source-topics/topic-conditions.ts'
import { linkFacts, ownMirror, topicFacts } from '../source-topics/topic-facts.ts'
import { topicOrigins } from '../status/chain-rules.ts'
import { requireRunning } from './ask-source.ts'
import { createPlanned, validateCreation } from './create-mirror.ts'
import { type OperationContext, topicNameQueue } from './operation-context.ts'
import { planDiscovered } from './plan-mirror.ts'

/**
 * Resolves when the mirror exists, or when it is not to be created any more: filters, the link and this cluster may have
 * changed since it was decided. Does not wait for its fetching to begin.
 */
export async function createDiscoveredMirror(
  context: OperationContext,
  subject: { readonly linkId: Uuid; readonly discovered: DiscoveredTopic },
  signal: AbortSignal,
): Promise<void> {
  const { linkId, discovered } = subject
  const { runtime, source } = requireRunning(context, linkId)
  const { name } = discovered.topic
  const mirrorTopic = `${runtime.configs.must('cluster.link.prefix')}${name}`
  await context.operations.run(topicNameQueue(mirrorTopic), async () => {
    const link = context.desired.link(linkId)
    if (!link || link.deletingSinceMs !== undefined || context.desired.problemOf(linkId) !== undefined) return
    const { configs } = runtime
    const origins = topicOrigins(discovered.view, { link, clusterId: context.destination.clusterId })
    const atSource = { kind: 'found', topic: discovered.topic } as const
    const facts = topicFacts(context, linkFacts(link, configs, runtime.health), { name, atSource, origins })
    if (signal.aborted || ownMirror(context, linkId, mirrorTopic) || autoCreateConditions(facts).some(isObstacle))
      return
    const request = { replicationFactor: undefined, configs: new Map(), discovered }
    const plan = await planDiscovered(context, { link, configs, source, mirrorTopic, signal }, request)
    // Tried again and again: what is refused must not leave an intent and its withdrawal each time.
    await validateCreation(context, plan.creation)
    await createPlanned(context, plan)
  })
}
