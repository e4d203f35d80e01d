/**
 * OffsetFetch (9), versions 1–10; the dispatch table calls it.
 *
 * 2: all offsets of a group (null topics), an error for the whole. 5: leader epochs. 6: flexible. 7: require_stable. 8: several
 * groups in one request (KIP-709). 9: members of the newer consumer protocol name themselves. 10: topic ids.
 *
 * DESCRIBE on the group, then DESCRIBE on each topic; when everything is asked for, other topics are left out. An offset of
 * nobody is -1 without an error, in a group that does not exist too. With require_stable, offsets that an open transaction
 * would change are UNSTABLE_OFFSET_COMMIT. Offsets of a topic that another of its name has replaced are not told.
 */

import type { FetchedTopic } from '../../coordinator/groups/fetch-offsets.ts'
import { noOffset } from '../../coordinator/groups/fetch-offsets.ts'
import { ZERO_UUID } from '../../core/uuid.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  OffsetFetchApi,
  type OffsetFetchRequest,
  type OffsetFetchResponseInput,
} from '../../protocol/messages/09-offset-fetch.ts'
import { allowed, allowedNames } from '../authorization.ts'
import { type BrokerContext, handlerOf, type RequestOrigin } from '../handler.ts'
import { namedTopics } from '../named-topics.ts'
import { resolveTopic } from '../resolve-topic.ts'

const BATCHED_VERSION = 8
const TOPIC_ID_VERSION = 10
/** From here on an error of the whole group is told once. */
const GROUP_ERROR_VERSION = 2

type AskedGroup = OffsetFetchRequest['groups'][number]

interface FetchedGroup {
  readonly groupId: string
  readonly errorCode: number
  readonly topics: readonly FetchedTopic[]
}

export const offsetFetch = handlerOf(OffsetFetchApi, {
  versions: { min: 1, max: 10 },
  async handle(broker, request, origin) {
    const groups = await Promise.all(
      askedGroups(request, origin.version).map(async asked => ({
        asked,
        answer: await answerGroup(broker, origin, { asked, requireStable: request.requireStable }),
      })),
    )
    return respond(groups, origin.version)
  },
  failed: (request, errorCode, { version }) =>
    respond(
      askedGroups(request, version).map(asked => ({ asked, answer: groupFailure(asked.groupId, errorCode) })),
      version,
    ),
})

const askedGroups = (request: OffsetFetchRequest, version: number): AskedGroup[] =>
  version >= BATCHED_VERSION
    ? request.groups
    : [
        {
          groupId: request.groupId,
          memberId: null,
          memberEpoch: -1,
          topics: request.topics?.map(topic => ({ ...topic, topicId: ZERO_UUID })) ?? null,
        },
      ]

const groupFailure = (groupId: string, errorCode: number): FetchedGroup => ({ groupId, errorCode, topics: [] })

async function answerGroup(
  broker: BrokerContext,
  origin: RequestOrigin,
  { asked, requireStable }: { readonly asked: AskedGroup; readonly requireStable: boolean },
): Promise<FetchedGroup> {
  const { groupId } = asked
  if (!allowed(broker, origin, { operation: 'DESCRIBE', resource: 'GROUP', name: groupId }))
    return groupFailure(groupId, ErrorCode.GROUP_AUTHORIZATION_FAILED)
  const refused: FetchedTopic[] = []
  const topics = asked.topics && describableTopics(broker, origin, { asked: asked.topics, refused })
  const topicIdOf = (name: string) => topicByName(origin.image, name)?.id
  const { memberId, memberEpoch } = asked
  const { errorCode, topics: fetched } = await broker.groups.fetchOffsets({
    groupId,
    memberId,
    memberEpoch,
    requireStable,
    topics,
    topicIdOf,
  })
  if (errorCode !== ErrorCode.NONE) return groupFailure(groupId, errorCode)
  const shown = asked.topics === null ? visibleTopics(broker, origin, fetched) : fetched
  return { groupId, errorCode, topics: [...shown, ...refused] }
}

/** What the coordinator is asked; topics that do not exist under their id or may not be described are put into `refused`. */
function describableTopics(
  broker: BrokerContext,
  origin: RequestOrigin,
  { asked, refused }: { asked: NonNullable<AskedGroup['topics']>; refused: FetchedTopic[] },
) {
  const names = namedTopics(origin.image, asked)
  const describable = allowedNames(broker, origin, { operation: 'DESCRIBE', resource: 'TOPIC', names })
  return asked.flatMap(({ name: askedName, topicId: askedId, partitionIndexes: partitions }) => {
    const { image } = resolveTopic(origin.image, { name: askedName, topicId: askedId })
    const name = image?.name ?? askedName
    const isUnknownId = !image && origin.version >= TOPIC_ID_VERSION
    if (!isUnknownId && describable.has(name)) return [{ name, topicId: image?.id ?? askedId, partitions }]
    const code = isUnknownId ? ErrorCode.UNKNOWN_TOPIC_ID : ErrorCode.TOPIC_AUTHORIZATION_FAILED
    refused.push({ name, topicId: askedId, partitions: partitions.map(partition => noOffset(partition, code)) })
    return []
  })
}

/** Of everything that is committed: what the client may see, and in the newest version what still has an id. */
function visibleTopics(broker: BrokerContext, origin: RequestOrigin, fetched: readonly FetchedTopic[]): FetchedTopic[] {
  const names = fetched.map(({ name }) => name)
  const describable = allowedNames(broker, origin, { operation: 'DESCRIBE', resource: 'TOPIC', names })
  return fetched.filter(
    ({ name, topicId }) => describable.has(name) && (origin.version < TOPIC_ID_VERSION || topicId !== ZERO_UUID),
  )
}

function respond(
  groups: readonly { readonly asked: AskedGroup; readonly answer: FetchedGroup }[],
  version: number,
): OffsetFetchResponseInput {
  if (version >= BATCHED_VERSION) return { throttleTimeMs: 0, groups: groups.map(({ answer }) => answer) }
  const [only] = groups
  const { errorCode = ErrorCode.NONE, topics = [] } = only?.answer ?? {}
  const perPartition = version < GROUP_ERROR_VERSION && errorCode !== ErrorCode.NONE
  return {
    throttleTimeMs: 0,
    errorCode,
    topics: perPartition
      ? (only?.asked.topics ?? []).map(({ name, partitionIndexes }) => ({
          name,
          partitions: partitionIndexes.map(partition => noOffset(partition, errorCode)),
        }))
      : topics,
  }
}
