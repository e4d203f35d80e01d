/**
 * DeleteTopics (20), versions 1–6; the dispatch table calls it.
 *
 * 1: baseline. 3: TOPIC_DELETION_DISABLED. 4: flexible. 5: error messages. 6: topics by name or by id, ids in the answer.
 *
 * Every state of a mirror may be deleted; the write gate keeps the topics without which nobody knows what is a mirror. Names or ids given twice, neither, or both are
 * INVALID_REQUEST. Needs DELETE on the cluster, or DESCRIBE and DELETE on the topic. The answer comes when the deletion is durable and published; files go in the background.
 */
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import { type MetadataImage, topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  DeleteTopicsApi,
  type DeleteTopicsRequest,
  type DeleteTopicsResponseInput,
} from '../../protocol/messages/20-delete-topics.ts'
import { allowedNames, allowedOnCluster } from '../authorization.ts'
import { type BrokerContext, handlerOf, RequestFailure, type RequestOrigin } from '../handler.ts'
import { repeated } from '../repeated.ts'

const DELETION_DISABLED_VERSION = 3
/** Older clients are not refused but slowed down. */
const STRICT_QUOTA_VERSION = 5

type TopicAnswer = DeleteTopicsResponseInput['responses'][number]

interface Named {
  readonly name: string | null
  readonly topicId: Uuid
}

export const deleteTopics = handlerOf(DeleteTopicsApi, {
  versions: { min: 1, max: 6 },
  async handle(broker, request, origin) {
    const { version, image } = origin
    if (!broker.settings.deleteTopics)
      throw new RequestFailure(
        version < DELETION_DISABLED_VERSION ? ErrorCode.INVALID_REQUEST : ErrorCode.TOPIC_DELETION_DISABLED,
        'topic deletion is disabled',
      )
    const { wanted, refused } = sort(request, image, denials(broker, origin, namedIn(request)))
    const { allowed, kept } = askGate(broker, image, wanted)
    const deleted = await broker.controller.deleteTopics(allowed, {
      mayMutate: origin.throttle?.mutationGate({ strict: version >= STRICT_QUOTA_VERSION }),
    })
    return {
      throttleTimeMs: 0,
      responses: [
        ...refused,
        ...kept,
        ...deleted.map(({ name, topicId, errorCode, errorMessage }) => ({ name, topicId, errorCode, errorMessage })),
      ],
    }
  },
  failed: (request, errorCode) => ({
    throttleTimeMs: 0,
    responses: namedIn(request).map(({ name, topicId }) => ({ name, topicId, errorCode })),
  }),
})

const namedIn = (request: DeleteTopicsRequest): Named[] => [
  ...request.topicNames.map(name => ({ name, topicId: ZERO_UUID })),
  ...request.topics,
]

/** Decides topic by topic whether the client may delete it; the answer tells what the client may know. */
function denials(broker: BrokerContext, origin: RequestOrigin, named: readonly Named[]) {
  const { image } = origin
  const nameOf = ({ name, topicId }: Named) => name ?? image.topics.get(topicId)?.name
  const names = named.flatMap(topic => nameOf(topic) ?? [])
  const all = allowedOnCluster(broker, origin, 'DELETE')
  const permitted = (operation: 'DESCRIBE' | 'DELETE') =>
    all ? new Set(names) : allowedNames(broker, origin, { operation, resource: 'TOPIC', names })
  const describable = permitted('DESCRIBE')
  const deletable = permitted('DELETE')
  return (topic: Named): TopicAnswer | undefined => {
    const name = nameOf(topic)
    // What does not exist is told to those who might see it.
    if (name === undefined || (describable.has(name) && (deletable.has(name) || !image.topicIds.has(name))))
      return undefined
    const errorCode = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    if (topic.name !== null) return { name, topicId: ZERO_UUID, errorCode, errorMessage: null }
    if (deletable.has(name)) return undefined
    return { name: describable.has(name) ? name : null, topicId: topic.topicId, errorCode, errorMessage: null }
  }
}

/** What the controller is asked for, and what is refused before. */
function sort(
  request: DeleteTopicsRequest,
  image: MetadataImage,
  denied: (topic: Named) => TopicAnswer | undefined,
): { wanted: Named[]; refused: TopicAnswer[] } {
  const named = namedIn(request)
  const names = repeated(named.flatMap(({ name, topicId }) => (topicId === ZERO_UUID && name !== null ? [name] : [])))
  const ids = repeated(named.flatMap(({ name, topicId }) => (name === null && topicId !== ZERO_UUID ? [topicId] : [])))
  const byId = new Set(named.map(({ topicId }) => topicId))
  const wanted: Named[] = []
  /** Ids of topics that are also named: such a topic stays, the answer is about the name. */
  const alsoNamed = new Set<Uuid>()
  const refused: TopicAnswer[] = [
    ...[...names].map(name => invalid({ name, topicId: ZERO_UUID }, 'Duplicate topic name.')),
    ...[...ids].map(topicId => invalid({ name: null, topicId }, 'Duplicate topic id.')),
  ]
  for (const topic of named) {
    const { name, topicId } = topic
    const resolvedId = name === null ? undefined : image.topicIds.get(name)
    if (name === null && topicId === ZERO_UUID)
      refused.push(invalid(topic, 'Neither topic name nor id were specified.'))
    else if (name !== null && topicId !== ZERO_UUID)
      refused.push(invalid(topic, 'You may not specify both topic name and topic id.'))
    else if (!(name !== null && names.has(name)) && !ids.has(topicId)) {
      const denial = denied(topic)
      if (denial) refused.push(denial)
      else if (resolvedId !== undefined && byId.has(resolvedId)) {
        alsoNamed.add(resolvedId)
        refused.push(
          invalid({ name, topicId: resolvedId }, 'The provided topic name maps to an ID that was already supplied.'),
        )
      } else wanted.push(topic)
    }
  }
  return { wanted: wanted.filter(({ topicId }) => !alsoNamed.has(topicId)), refused }
}

function askGate(broker: BrokerContext, image: MetadataImage, wanted: readonly Named[]) {
  const allowed: Named[] = []
  const kept: TopicAnswer[] = []
  for (const named of wanted) {
    const topic = named.name === null ? image.topics.get(named.topicId) : topicByName(image, named.name)
    const refusal = topic && broker.writeGate.refusal(topic.id, topic.name, 'delete-topic')
    if (topic && refusal)
      kept.push({ name: topic.name, topicId: topic.id, errorCode: refusal.errorCode, errorMessage: refusal.message })
    else allowed.push(named)
  }
  return { allowed, kept }
}

const invalid = ({ name, topicId }: Named, errorMessage: string): TopicAnswer => ({
  name,
  topicId,
  errorCode: ErrorCode.INVALID_REQUEST,
  errorMessage,
})
