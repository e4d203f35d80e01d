/**
 * DescribeConfigs (32), versions 1–4; the dispatch table calls it.
 *
 * 1: baseline, sources and synonyms. 3: types and documentation. 4: flexible.
 *
 * Topics (2): every topic config with its effective value. Broker (4): with this node's id everything, with the empty name only
 * what is set for all brokers. Broker loggers (8): the levels of this node's log. Groups (32) and client metrics (16): every config
 * of theirs, whether or not there is such a group. Values of sensitive properties are never told.
 *
 * Needs DESCRIBE_CONFIGS on the topic or group, for everything else on the cluster.
 */
import {
  type ConfigLayers,
  configLayers,
  type DescribedConfig,
  describeBrokerConfigs,
  describeClientMetricsConfigs,
  describeDefaultBrokerConfigs,
  describeGroupConfigs,
  describeTopicConfigs,
  trueLayers,
} from '../../metadata/config-resolution.ts'
import { type ConfigResource, ConfigResourceType, configOverrides, topicByName } from '../../metadata/metadata-image.ts'
import { topicNameProblem } from '../../metadata/topic-names.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  DescribeConfigsApi,
  type DescribeConfigsRequest,
  type DescribeConfigsResponseInput,
} from '../../protocol/messages/32-describe-configs.ts'
import { requireConfigAccess } from '../config-access.ts'
import { type BrokerContext, handlerOf, RequestFailure, type RequestOrigin } from '../handler.ts'
import { describeLoggers } from '../logger-configs.ts'

type Resource = DescribeConfigsRequest['resources'][number]
type ResourceAnswer = DescribeConfigsResponseInput['results'][number]

export const describeConfigs = handlerOf(DescribeConfigsApi, {
  versions: { min: 1, max: 4 },
  handle: (broker, request, origin) => ({
    throttleTimeMs: 0,
    results: request.resources.map(resource => answerFor(broker, { request, resource, origin })),
  }),
  failed: (request, errorCode) => ({
    throttleTimeMs: 0,
    results: request.resources.map(resource => refused(resource, errorCode, null)),
  }),
})

const refused = (resource: Resource, errorCode: number, errorMessage: string | null): ResourceAnswer => ({
  errorCode,
  errorMessage,
  resourceType: resource.resourceType,
  resourceName: resource.resourceName,
  configs: [],
})

interface Asked {
  readonly request: DescribeConfigsRequest
  readonly resource: Resource
  readonly origin: RequestOrigin
}

function answerFor(broker: BrokerContext, asked: Asked): ResourceAnswer {
  const { request, resource } = asked
  try {
    return {
      ...refused(resource, ErrorCode.NONE, null),
      configs: describe(broker, asked).map(config => ({
        name: config.name,
        value: config.value,
        readOnly: config.readOnly,
        configSource: config.source,
        isSensitive: config.sensitive,
        synonyms: request.includeSynonyms ? config.synonyms.map(synonym => ({ ...synonym })) : [],
        configType: config.type,
        documentation: request.includeDocumentation ? config.doc : null,
      })),
    }
  } catch (error) {
    if (error instanceof RequestFailure) return refused(resource, error.errorCode, error.message)
    throw error
  }
}

function describe(broker: BrokerContext, { resource, origin }: Asked): DescribedConfig[] {
  const { resourceType: type, resourceName: name } = resource
  const { image } = origin
  requireConfigAccess(broker, origin, { resource: { type, name }, operation: 'DESCRIBE_CONFIGS' })
  // An empty list of keys means all, as null does.
  const keys = resource.configurationKeys?.length ? resource.configurationKeys : null
  const from = { brokerId: broker.brokerId, file: broker.settings.file }
  switch (type) {
    case ConfigResourceType.TOPIC: {
      const problem = topicNameProblem(name)
      if (problem) throw new RequestFailure(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
      const topic = topicByName(image, name)
      if (!topic) throw new RequestFailure(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, `There is no topic ${name}.`)
      const layers = configLayers(image, { ...from, topic: name })
      return describeTopicConfigs(trueLayers(layers, broker.joined?.trueTopicConfigs(topic.id)), keys)
    }
    case ConfigResourceType.BROKER:
      return describeBroker(broker, { name, keys, layers: configLayers(image, from) })
    case ConfigResourceType.CLIENT_METRICS:
      return describeClientMetricsConfigs(configOverrides(image, named(resource)), keys)
    case ConfigResourceType.GROUP:
      return describeGroupConfigs(configOverrides(image, named(resource)), configLayers(image, from), keys)
    case ConfigResourceType.BROKER_LOGGER:
      checkBrokerId(broker, name, false)
      return describeLoggers(broker.loggers, keys)
    default:
      throw new RequestFailure(ErrorCode.INVALID_REQUEST, `Unsupported resource type: ${type}`)
  }
}

function describeBroker(
  broker: BrokerContext,
  asked: { readonly name: string; readonly keys: readonly string[] | null; readonly layers: ConfigLayers },
): DescribedConfig[] {
  const { name, keys, layers } = asked
  if (name === '') return describeDefaultBrokerConfigs(layers, keys)
  checkBrokerId(broker, name, true)
  return describeBrokerConfigs(layers, keys)
}

/** `orEmpty`: the empty name means all brokers. */
function checkBrokerId({ brokerId }: BrokerContext, name: string, orEmpty: boolean): void {
  if (!/^-?\d+$/.test(name))
    throw new RequestFailure(ErrorCode.INVALID_REQUEST, `Broker id must be an integer, but it is: ${name}`)
  if (Number(name) !== brokerId)
    throw new RequestFailure(
      ErrorCode.INVALID_REQUEST,
      `Unexpected broker id, expected ${brokerId}${orEmpty ? ' or empty string,' : ''} but received ${name}`,
    )
}

function named({ resourceType: type, resourceName: name }: Resource): ConfigResource {
  if (name === '') throw new RequestFailure(ErrorCode.INVALID_REQUEST, 'The resource name must not be empty')
  return { type, name }
}
