/** Effective values of topic and broker configs with their sources, as DescribeConfigs tells them; used by handlers, the logs' settings and the controller. */
import type { Uuid } from '../core/uuid.ts'
import { brokerConfig, brokerConfigs } from './broker-configs.ts'
import { clientMetricsConfigs } from './client-metrics-configs.ts'
import { groupConfigs } from './group-configs.ts'
import { configTypeOnWire, type KafkaProperty } from './kafka-property.ts'
import { ConfigResourceType, configOverrides, type MetadataImage } from './metadata-image.ts'
import { type TopicConfig, topicConfigs } from './topic-configs.ts'

/** Config sources of the wire. */
export const ConfigSource = {
  UNKNOWN: 0,
  DYNAMIC_TOPIC: 1,
  DYNAMIC_BROKER: 2,
  DYNAMIC_DEFAULT_BROKER: 3,
  STATIC_BROKER: 4,
  DEFAULT: 5,
  DYNAMIC_BROKER_LOGGER: 6,
  CLIENT_METRICS: 7,
  GROUP: 8,
} as const

type Texts = ReadonlyMap<string, string>

/** Where values can come from, strongest first. */
export interface ConfigLayers {
  /** Overrides of the topic; absent when asked about a broker. */
  readonly topic?: Texts
  readonly broker: Texts
  readonly defaultBroker: Texts
  /** The server's properties file. */
  readonly file: Texts
}

export interface ConfigSynonym {
  readonly name: string
  /** Null = sensitive. */
  readonly value: string | null
  readonly source: number
}

/** One entry of a DescribeConfigs answer. */
export interface DescribedConfig {
  readonly name: string
  /** Null = sensitive or not set. */
  readonly value: string | null
  readonly source: number
  /** On the wire, see `configTypeOnWire`; 0 = unknown. */
  readonly type: number
  readonly readOnly: boolean
  readonly sensitive: boolean
  readonly synonyms: readonly ConfigSynonym[]
  readonly doc: string
}

const nothing: Texts = new Map()

/** Overrides that a topic is meant to have where it has others while it is a mirror; null = none. */
export type TrueTopicConfigs = (topicId: Uuid) => ReadonlyMap<string, string | null> | undefined

/** The layers as they are meant to be, for whoever is shown them. */
export function trueLayers(layers: ConfigLayers, meant: ReadonlyMap<string, string | null> | undefined): ConfigLayers {
  if (!meant) return layers
  const topic = new Map(layers.topic)
  for (const [key, value] of meant) {
    if (value === null) topic.delete(key)
    else topic.set(key, value)
  }
  return { ...layers, topic }
}

/** The layers of one broker, and of one topic if named. */
export function configLayers(
  image: MetadataImage,
  from: { readonly brokerId: number; readonly file?: Texts; readonly topic?: string },
): ConfigLayers {
  const { BROKER, TOPIC } = ConfigResourceType
  return {
    ...(from.topic === undefined ? {} : { topic: configOverrides(image, { type: TOPIC, name: from.topic }) }),
    broker: configOverrides(image, { type: BROKER, name: String(from.brokerId) }),
    defaultBroker: configOverrides(image, { type: BROKER, name: '' }),
    file: from.file ?? nothing,
  }
}

/** Values of the server properties `names` in the order in which they win, the default last. */
function serverValues(names: readonly string[], layers: ConfigLayers): ConfigSynonym[] {
  const found: ConfigSynonym[] = []
  const { DYNAMIC_BROKER, DYNAMIC_DEFAULT_BROKER, STATIC_BROKER, DEFAULT } = ConfigSource
  const add = (texts: Texts, source: number) => {
    for (const name of names) {
      const value = texts.get(name)
      if (value !== undefined) found.push({ name, value, source })
    }
  }
  add(layers.broker, DYNAMIC_BROKER)
  add(layers.defaultBroker, DYNAMIC_DEFAULT_BROKER)
  add(layers.file, STATIC_BROKER)
  for (const name of names) {
    const value = brokerConfig(name)?.property.default
    if (value !== undefined) found.push({ name, value, source: DEFAULT })
  }
  return found
}

/**
 * What Kafka tells of them about the property `name`: what comes before its own first value is left out, so that a property
 * which is set nowhere has none, though it follows another of its group.
 */
const toldOf = (name: string | undefined, values: readonly ConfigSynonym[]): ConfigSynonym[] => {
  const first = values.findIndex(value => value.name === name)
  return first < 0 ? [] : values.slice(first)
}

/** Effective text of a topic config, in units of the topic config; undefined = not set (internal ones). */
export function effectiveTopicConfig(config: TopicConfig, layers: ConfigLayers): string | undefined {
  const override = layers.topic?.get(config.name)
  if (override !== undefined) return override
  const names = config.synonyms.map(synonym => synonym.name)
  const [server] = serverValues(names, layers)
  if (server?.value == null) return config.property.default
  return scaled(server.value, config.synonyms[names.indexOf(server.name)]?.scale ?? 1)
}

/** Effective text of a server property itself (no group inheritance); null = not set. */
export const effectiveBrokerConfig = (name: string, layers: Omit<ConfigLayers, 'topic'>): string | null =>
  brokerValue(name, serverValues([name], layers))

/** Negative values mean "no bound" in every unit. */
const scaled = (text: string, scale: number): string =>
  scale === 1 || Number(text) < 0 ? text : String(Number(text) * scale)

export function describeTopicConfig(config: TopicConfig, layers: ConfigLayers): DescribedConfig {
  const names = config.synonyms.map(synonym => synonym.name)
  const override = layers.topic?.get(config.name)
  const synonyms: ConfigSynonym[] = [
    ...(override === undefined ? [] : [{ name: config.name, value: override, source: ConfigSource.DYNAMIC_TOPIC }]),
    ...toldOf(names[0], serverValues(names, layers)),
  ]
  return {
    name: config.name,
    value: effectiveTopicConfig(config, layers) ?? null,
    source: synonyms[0]?.source ?? ConfigSource.DEFAULT,
    type: configTypeOnWire[config.property.type],
    readOnly: false,
    sensitive: false,
    synonyms,
    doc: config.row.doc,
  }
}

/** All configs of a group: its own values, or those of the server properties behind them. `keys` null = all. Unknown keys are left out. */
export function describeGroupConfigs(
  overrides: Texts,
  layers: Omit<ConfigLayers, 'topic'>,
  keys: readonly string[] | null,
): DescribedConfig[] {
  return chosen(groupConfigs, keys).map(config => {
    const { name, server, property, row } = config
    const inherited = server === undefined ? [defaultOf(name, property)] : serverValues([server], layers)
    return resourceConfig(
      { name, property, doc: row.doc, override: overrides.get(name), inherited },
      ConfigSource.GROUP,
    )
  })
}

/** All configs of a client metrics subscription. `keys` null = all. Unknown keys are left out. */
export function describeClientMetricsConfigs(overrides: Texts, keys: readonly string[] | null): DescribedConfig[] {
  return chosen(clientMetricsConfigs, keys).map(({ name, property, row }) => {
    const described = { name, property, doc: row.doc, override: overrides.get(name), inherited: [] }
    return resourceConfig(described, ConfigSource.CLIENT_METRICS)
  })
}

const chosen = <T>(rows: ReadonlyMap<string, T>, keys: readonly string[] | null): T[] =>
  keys === null ? [...rows.values()] : [...new Set(keys)].flatMap(key => rows.get(key) ?? [])

const defaultOf = (name: string, property: KafkaProperty): ConfigSynonym => ({
  name,
  value: property.default ?? null,
  source: ConfigSource.DEFAULT,
})

function resourceConfig(
  of: {
    readonly name: string
    readonly property: KafkaProperty
    readonly doc: string
    readonly override: string | undefined
    readonly inherited: readonly ConfigSynonym[]
  },
  source: number,
): DescribedConfig {
  const own = of.override === undefined ? [] : [{ name: of.name, value: of.override, source }]
  const synonyms = [...own, ...of.inherited]
  return {
    name: of.name,
    value: synonyms[0]?.value ?? of.property.default ?? null,
    source: synonyms[0]?.source ?? ConfigSource.DEFAULT,
    type: configTypeOnWire[of.property.type],
    readOnly: false,
    sensitive: false,
    synonyms,
    doc: of.doc,
  }
}

/** All configs of a topic, internal ones only when set. `keys` null = all. Unknown keys are left out. */
export function describeTopicConfigs(layers: ConfigLayers, keys: readonly string[] | null): DescribedConfig[] {
  return chosen(topicConfigs, keys)
    .filter(config => !config.property.internal || layers.topic?.has(config.name))
    .map(config => describeTopicConfig(config, layers))
}

/**
 * All configs of a broker. `keys` null = all of the catalog (internal ones only when set) and everything set dynamically.
 * Sensitive values, and those of properties nobody knows, are hidden.
 */
export function describeBrokerConfigs(layers: ConfigLayers, keys: readonly string[] | null): DescribedConfig[] {
  const set = new Set([...layers.broker.keys(), ...layers.defaultBroker.keys(), ...layers.file.keys()])
  const known = [...brokerConfigs.values()].filter(({ property }) => !property.internal && !property.dynamicOnly)
  const names = keys ?? [...new Set([...known.map(config => config.name), ...set])]
  return names.filter(name => set.has(name) || brokerConfig(name)).map(name => describeBrokerConfig(name, layers))
}

/** Only what is set for all brokers, as DescribeConfigs of broker "" answers. */
export function describeDefaultBrokerConfigs(layers: ConfigLayers, keys: readonly string[] | null): DescribedConfig[] {
  const only: ConfigLayers = { broker: nothing, defaultBroker: layers.defaultBroker, file: nothing }
  const names = [...layers.defaultBroker.keys()].filter(name => keys === null || keys.includes(name))
  return names.map(name => {
    const described = describeBrokerConfig(name, only)
    return { ...described, synonyms: described.synonyms.filter(synonym => synonym.source !== ConfigSource.DEFAULT) }
  })
}

function describeBrokerConfig(name: string, layers: ConfigLayers): DescribedConfig {
  const config = brokerConfig(name)
  const sensitive = config === undefined || config.property.type === 'password'
  const synonyms = toldOf(name, serverValues(synonymNames(name), layers))
  const hide = (synonym: ConfigSynonym): ConfigSynonym => (sensitive ? { ...synonym, value: null } : synonym)
  return {
    name,
    value: sensitive ? null : brokerValue(name, synonyms),
    source: synonyms[0]?.source ?? ConfigSource.DEFAULT,
    type: config === undefined ? 0 : configTypeOnWire[config.property.type],
    readOnly: !isDynamic(config?.property),
    sensitive,
    synonyms: synonyms.map(hide),
    doc: config?.row.doc ?? '',
  }
}

/** A property that inherits from another in its group (log.retention.ms ← minutes, hours) shows only its own value. */
const brokerValue = (name: string, synonyms: readonly ConfigSynonym[]): string | null =>
  synonyms.find(synonym => synonym.name === name)?.value ?? null

const isDynamic = (property: KafkaProperty | undefined): boolean => property?.dynamic !== undefined

/** Names of the group that a server property belongs to, most specific first. */
const groups: ReadonlyMap<string, readonly string[]> = new Map(
  [...topicConfigs.values()].flatMap(({ synonyms }) => {
    const names = synonyms.map(synonym => synonym.name)
    return names.map((name): [string, readonly string[]] => [name, names])
  }),
)

const synonymNames = (name: string): readonly string[] => groups.get(name) ?? [name]
