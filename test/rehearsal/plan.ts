// What a rehearsal sets up, from its size alone: topics of every kind, what is written to them, groups in every state, ACLs; used by both rehearsals.

import type { ReadingGroup } from './group-clients.ts'
import type { Acl } from './rehearsal-world.ts'

/** How large a rehearsal is. */
export interface Size {
  readonly topics: number
  readonly groups: number
  readonly acls: number
  /** How long producers write before the cluster is left. */
  readonly seconds: number
  /** Most records that a producer sends at a time. */
  readonly burst: number
  /** Most bytes of a record in the topics of large ones. */
  readonly largeBytes: number
}

export type TopicKind = 'plain' | 'compacted' | 'transactional' | 'large' | 'unacknowledged' | 'held' | 'trimmed'

export interface PlannedTopic {
  readonly name: string
  readonly kind: TopicKind
  readonly partitions: number
  readonly codec: string
  readonly configs: Readonly<Record<string, string>>
}

/** A producer as RehearsalProducer.java takes it. */
export interface PlannedProducer {
  readonly name: string
  readonly kind: 'idempotent' | 'plain' | 'transactional' | 'held'
  readonly topics: readonly (readonly [string, number])[]
  readonly codec: string
  readonly valueBytes: number
  readonly keys: number
  readonly burst: number
  readonly pauseMs: number
  readonly records?: number
}

/** Groups that read, by client library; those whose reading ended long ago; and those whose offsets an administrator has set. */
export interface PlannedGroups {
  readonly reading: Readonly<Record<'Java' | 'librdkafka' | 'KafkaJS', readonly ReadingGroup[]>>
  readonly ended: readonly ReadingGroup[]
  readonly set: readonly SetGroup[]
}

/** `beyond` is above the log end, `below` below the log start, `rewound` was at the end and went back. */
export interface SetGroup {
  readonly id: string
  readonly topic: string
  readonly state: 'at-end' | 'beyond' | 'below' | 'rewound' | 'middle'
}

const CYCLE: readonly TopicKind[] = [
  'plain',
  'compacted',
  'transactional',
  'plain',
  'large',
  'transactional',
  'plain',
  'unacknowledged',
  'compacted',
  'transactional',
]
const CODECS: Readonly<Record<TopicKind, readonly [string, string]>> = {
  plain: ['gzip', 'zstd'],
  compacted: ['none', 'lz4'],
  transactional: ['gzip', 'snappy'],
  large: ['none', 'zstd'],
  unacknowledged: ['none', 'lz4'],
  held: ['gzip', 'gzip'],
  trimmed: ['gzip', 'gzip'],
}
const CONFIGS: Readonly<Partial<Record<TopicKind, Readonly<Record<string, string>>>>> = {
  compacted: { 'cleanup.policy': 'compact', 'segment.ms': '1000', 'min.cleanable.dirty.ratio': '0.01' },
  large: { 'max.message.bytes': '12000000' },
  plain: { 'retention.ms': '86400000' },
}
/** The first topic has many. */
const WIDE = 24

export function planTopics(count: number): PlannedTopic[] {
  const counts = new Map<TopicKind, number>()
  const named = (kind: TopicKind, partitions: number): PlannedTopic => {
    const number = counts.get(kind) ?? 0
    counts.set(kind, number + 1)
    const codec = CODECS[kind][number % 2] ?? 'none'
    return { name: `${kind}-${String(number).padStart(3, '0')}`, kind, partitions, codec, configs: CONFIGS[kind] ?? {} }
  }
  const rest = Array.from({ length: Math.max(0, count - 2) }, (_, index) =>
    named(CYCLE[index % CYCLE.length] ?? 'plain', index === 0 ? WIDE : 1 + (index % 3)),
  )
  return [named('held', 2), named('trimmed', 1), ...rest]
}

/** A producer for each kind of topics and codec. */
export function planProducers(topics: readonly PlannedTopic[], { burst, largeBytes }: Size): PlannedProducer[] {
  const writers = new Map<string, PlannedTopic[]>()
  for (const topic of topics) {
    const name = `${topic.kind}-${topic.codec}`
    writers.set(name, [...(writers.get(name) ?? []), topic])
  }
  return [...writers].map(([name, written]): PlannedProducer => {
    const kind = written[0]?.kind ?? 'plain'
    const isLarge = kind === 'large'
    return {
      name,
      kind: producerKinds[kind],
      topics: written.map(topic => [topic.name, topic.partitions]),
      codec: written[0]?.codec ?? 'none',
      valueBytes: isLarge ? largeBytes : 400,
      keys: kind === 'compacted' ? 20 : 0,
      burst: isLarge ? 2 : burst,
      pauseMs: isLarge ? 400 : 100,
    }
  })
}

const producerKinds: Readonly<Record<TopicKind, PlannedProducer['kind']>> = {
  plain: 'idempotent',
  compacted: 'idempotent',
  transactional: 'transactional',
  large: 'idempotent',
  unacknowledged: 'plain',
  held: 'held',
  trimmed: 'idempotent',
}

/** The same producers, with an end: what was there before anybody looked. Nothing is held open. */
export const seeding = (producers: readonly PlannedProducer[], records: number): PlannedProducer[] =>
  producers.map(producer => ({
    ...producer,
    kind: producer.kind === 'held' ? 'transactional' : producer.kind,
    records: producer.topics.length * (producer.burst <= 2 ? 4 : records),
    burst: Math.max(producer.burst, producer.burst <= 2 ? 2 : 30),
    pauseMs: 1,
  }))

const clients = ['Java', 'librdkafka', 'KafkaJS'] as const
const setStates: readonly SetGroup['state'][] = ['at-end', 'beyond', 'rewound', 'middle']

/** Per ten groups three that read and commit, one that never commits, two that have ended, four that were set. */
export function planGroups(count: number, topics: readonly PlannedTopic[]): PlannedGroups {
  const reading = { Java: [] as ReadingGroup[], librdkafka: [] as ReadingGroup[], KafkaJS: [] as ReadingGroup[] }
  const ended: ReadingGroup[] = []
  const small = topics.filter(({ kind }) => kind !== 'large')
  const set: SetGroup[] = [{ id: 'set-below', topic: 'trimmed-000', state: 'below' }]
  for (let index = 0; index < count - 1; index++) {
    const client = clients[Math.floor(index / 10) % 3] ?? 'Java'
    const place = index % 10
    if (place < 3) {
      const own = clients[place] ?? 'Java'
      reading[own].push({ id: `${own}-${index}`, topics: somewhere(topics, index, own), commits: true })
    } else if (place === 3)
      reading[client].push({ id: `${client}-never-${index}`, topics: somewhere(topics, index, client), commits: false })
    else if (place < 6)
      ended.push({ id: `ended-${index}`, topics: somewhere(small, index, 'Java'), commits: true, records: 5 })
    else {
      const topic = topics[(index * 7) % topics.length]?.name ?? ''
      set.push({ id: `set-${index}`, topic, state: setStates[place - 6] ?? 'middle' })
    }
  }
  return { reading, ended, set }
}

/** Up to three topics; KafkaJS knows two codecs without further packages. */
function somewhere(topics: readonly PlannedTopic[], index: number, client: string): string[] {
  const readable = client === 'KafkaJS' ? topics.filter(({ codec }) => codec === 'gzip' || codec === 'none') : topics
  const chosen = [0, 1, 2].slice(0, 1 + (index % 3)).map(step => readable[(index * 3 + step * 5) % readable.length])
  return [...new Set(chosen.flatMap(topic => (topic ? [topic.name] : [])))]
}

/** What the application needs, what the link needs, one who is kept out, and more of every kind up to `count`. */
export function planAcls(count: number): Acl[] {
  const allow = (type: string, name: string, [principal, operation]: readonly [string, string]): Acl => [
    type,
    name,
    'LITERAL',
    `User:${principal}`,
    '*',
    operation,
    'ALLOW',
  ]
  const needed: Acl[] = [
    ...['READ', 'WRITE', 'DESCRIBE'].map(operation => allow('TOPIC', '*', ['app', operation])),
    allow('GROUP', '*', ['app', 'READ']),
    ['TRANSACTIONAL_ID', 'app-', 'PREFIXED', 'User:app', '*', 'ALL', 'ALLOW'],
    allow('CLUSTER', 'kafka-cluster', ['app', 'IDEMPOTENT_WRITE']),
    ...['READ', 'DESCRIBE_CONFIGS'].map(operation => allow('TOPIC', '*', ['link', operation])),
    allow('GROUP', '*', ['link', 'DESCRIBE']),
    allow('CLUSTER', 'kafka-cluster', ['link', 'DESCRIBE']),
    allow('TOPIC', '*', ['stranger', 'WRITE']),
    ['TOPIC', 'plain-', 'PREFIXED', 'User:stranger', '*', 'WRITE', 'DENY'],
  ]
  const more = Array.from({ length: Math.max(0, count - needed.length) }, (_, index): Acl => {
    const type = ['TOPIC', 'GROUP', 'TRANSACTIONAL_ID'][index % 3] ?? 'TOPIC'
    const pattern = index % 2 === 0 ? 'PREFIXED' : 'LITERAL'
    const host = index % 5 === 0 ? `10.0.0.${index}` : '*'
    return [
      type,
      `team-${index}`,
      pattern,
      `User:member-${index}`,
      host,
      'DESCRIBE',
      index % 7 === 0 ? 'DENY' : 'ALLOW',
    ]
  })
  return [...needed, ...more]
}
