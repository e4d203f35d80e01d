/** Bodies and answers about configs of topics, brokers and all brokers. */
import { type Static, type TProperties, Type } from 'typebox'
import { item, list, nullable } from './envelope.ts'

const ConfigSynonym = Type.Object({ name: Type.String(), value: nullable(Type.String()), source: Type.String() })

const config = <K extends string, P extends TProperties>(kind: K, fields: P) =>
  item(kind, {
    cluster_id: Type.String(),
    ...fields,
    name: Type.String(),
    /** null = sensitive, or not set. */
    value: nullable(Type.String()),
    is_default: Type.Boolean(),
    is_read_only: Type.Boolean(),
    is_sensitive: Type.Boolean(),
    source: Type.String(),
    /** Where the value could come from, the strongest first. */
    synonyms: Type.Array(ConfigSynonym),
  })

export const TopicConfigData = config('KafkaTopicConfig', { topic_name: Type.String() })
export type TopicConfigData = Static<typeof TopicConfigData>

export const TopicConfigDataList = list('KafkaTopicConfigList', TopicConfigData)
export type TopicConfigDataList = Static<typeof TopicConfigDataList>

export const BrokerConfigData = config('KafkaBrokerConfig', { broker_id: Type.Integer() })

export const BrokerConfigDataList = list('KafkaBrokerConfigList', BrokerConfigData)
export type BrokerConfigDataList = Static<typeof BrokerConfigDataList>

export const ClusterConfigData = config('KafkaClusterConfig', { config_type: Type.String() })

export const ClusterConfigDataList = list('KafkaClusterConfigList', ClusterConfigData)
export type ClusterConfigDataList = Static<typeof ClusterConfigDataList>

export const SetConfigBody = Type.Object(
  { value: Type.Optional(nullable(Type.String())) },
  { additionalProperties: false },
)

/** `value` may be absent only with DELETE. */
export const ConfigChanges = Type.Array(
  Type.Object(
    {
      name: Type.String(),
      value: Type.Optional(nullable(Type.String())),
      operation: Type.Optional(nullable(Type.Union([Type.Literal('SET'), Type.Literal('DELETE')]))),
    },
    { additionalProperties: false },
  ),
)

export const AlterConfigsBody = Type.Object(
  { data: ConfigChanges, validate_only: Type.Optional(nullable(Type.Boolean())) },
  { additionalProperties: false },
)
