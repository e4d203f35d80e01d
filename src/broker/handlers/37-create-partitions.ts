/**
 * CreatePartitions (37), versions 0–3; the dispatch table calls it.
 *
 * 0, 1: the same. 2: flexible. 3: throttled by quota.
 *
 * Mirrors grow with their source: the write gate refuses them. Names given twice are INVALID_REQUEST; the controller decides
 * the rest. Needs ALTER on the topic. The answer comes when the partitions are durable, published and their logs exist. `validateOnly` changes nothing.
 */
import type { PartitionGrowth } from '../../metadata/controller-port.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  CreatePartitionsApi,
  type CreatePartitionsRequest,
  type CreatePartitionsResponseInput,
} from '../../protocol/messages/37-create-partitions.ts'
import { allowedNames } from '../authorization.ts'
import { handlerOf } from '../handler.ts'
import { repeated } from '../repeated.ts'

/** Older clients are not refused but slowed down. */
const STRICT_QUOTA_VERSION = 3

type TopicAnswer = CreatePartitionsResponseInput['results'][number]

export const createPartitions = handlerOf(CreatePartitionsApi, {
  versions: { min: 0, max: 3 },
  async handle(broker, request, origin) {
    const { image } = origin
    const duplicates = repeated(request.topics.map(topic => topic.name))
    const results: TopicAnswer[] = [...duplicates].map(name => ({
      name,
      errorCode: ErrorCode.INVALID_REQUEST,
      errorMessage: 'Duplicate topic name.',
    }))
    const wanted: PartitionGrowth[] = []
    const names = request.topics.map(topic => topic.name)
    const alterable = allowedNames(broker, origin, { operation: 'ALTER', resource: 'TOPIC', names })
    for (const topic of request.topics) {
      const { name } = topic
      if (duplicates.has(name)) continue
      if (!alterable.has(name)) {
        results.push({ name, errorCode: ErrorCode.TOPIC_AUTHORIZATION_FAILED, errorMessage: null })
        continue
      }
      const id = image.topicIds.get(name)
      const refusal = id === undefined ? undefined : broker.writeGate.refusal(id, name, 'create-partitions')
      if (refusal) results.push({ name, errorCode: refusal.errorCode, errorMessage: refusal.message })
      else wanted.push(growthOf(topic))
    }
    const { validateOnly } = request
    const mayMutate = origin.throttle?.mutationGate({ strict: origin.version >= STRICT_QUOTA_VERSION })
    if (wanted.length > 0)
      results.push(...(await broker.controller.createPartitions(wanted, { validateOnly, mayMutate })))
    return { throttleTimeMs: 0, results }
  },
  failed: (request, errorCode) => ({
    throttleTimeMs: 0,
    results: request.topics.map(({ name }) => ({ name, errorCode, errorMessage: null })),
  }),
})

const growthOf = ({ name, count, assignments }: CreatePartitionsRequest['topics'][number]): PartitionGrowth => ({
  name,
  newCount: count,
  assignments: assignments?.map(({ brokerIds }) => brokerIds) ?? null,
})
