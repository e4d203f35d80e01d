/** The properties of a cluster link, one row each (rest-and-cli §3 and §5); parsing, listing and docs/generated read them. */
import { booleanRow, type ConfigRow, enumRow, intRow, listRow, stringRow } from '../../core/config-rows.ts'
import { aclFiltersRow } from './acl-filters.ts'
import { addressProblem, includeListProblem, parseStartOffsetSpec, prefixProblem } from './config-values.ts'
import { nameFiltersRow } from './name-filters.ts'
import { securityConfigRows } from './security-config-rows.ts'

/** Topic configs synced unless a link's include list says otherwise (semantics §6). */
export const defaultIncludedTopicConfigs = [
  'retention.bytes',
  'retention.ms',
  'delete.retention.ms',
  'min.compaction.lag.ms',
  'max.compaction.lag.ms',
] as const

const ms = (initial: number, doc: string, min = 1) => intRow({ default: initial, min, doc })
const longMs = (initial: number, doc: string) => intRow({ default: initial, min: 0, long: true, doc })

const generalRows = {
  'bootstrap.servers': listRow({
    doc: 'Addresses of the remote cluster, host:port separated by commas. Required.',
    check: items => (items.length === 0 ? 'must name at least one host:port' : items.map(addressProblem).find(p => p)),
  }),
  'link.mode': enumRow({
    default: 'DESTINATION',
    values: ['DESTINATION', 'BIDIRECTIONAL', 'SOURCE'],
    mutable: false,
    doc: 'Which end of the relation this link object is. Fixed at creation.',
  }),
  'connection.mode': enumRow({
    default: 'OUTBOUND',
    values: ['OUTBOUND', 'INBOUND'],
    mutable: false,
    doc: 'Who opens the connections. Fixed at creation.',
  }),
  'remote.link.connection.mode': enumRow({
    values: ['OUTBOUND', 'INBOUND'],
    mutable: false,
    doc: 'Connection mode of the peer of a bidirectional link.',
  }),
  'cluster.link.paused': booleanRow({ default: false, doc: 'Pauses the whole link.' }),
  'cluster.link.prefix': stringRow({
    default: '',
    mutable: false,
    check: prefixProblem,
    doc: 'Prefix of the names of mirror topics; unique per cluster. Fixed at creation.',
  }),
  'consumer.group.prefix.enable': booleanRow({
    default: false,
    mutable: false,
    doc: 'Also puts the prefix before the names of synced groups.',
  }),
  'cluster.link.retry.timeout.ms': ms(
    300_000,
    'How long a missing topic or a refused access is retried before FAILED.',
    0,
  ),
  'availability.check.ms': ms(60_000, 'Period of the probe of the remote cluster.'),
  'availability.check.consecutive.failure.threshold': intRow({
    default: 5,
    min: 1,
    doc: 'Failed probes in a row before the link is UNAVAILABLE.',
  }),
}

const syncRows = {
  'acl.sync.enable': booleanRow({ default: false, doc: 'Copies ACLs. Not together with a prefix.' }),
  'acl.sync.ms': ms(5000, 'Period of the ACL sync.', 1000),
  'acl.filters': aclFiltersRow('Which ACLs are copied.'),
  'consumer.offset.sync.enable': booleanRow({ default: false, doc: 'Copies group offsets; false clears the filters.' }),
  'consumer.offset.sync.ms': ms(30_000, 'Period of the group offset sync.', 1000),
  'consumer.offset.group.filters': nameFiltersRow(
    'groupFilters',
    'Which groups are copied; on bidirectional links also in which direction (topicTypes LOCAL_MIRROR, REMOTE_MIRROR).',
  ),
  'topic.config.sync.ms': ms(5000, 'Period of the topic config sync.', 1000),
  'topic.config.sync.include': listRow({
    default: defaultIncludedTopicConfigs,
    check: includeListProblem,
    doc: 'Topic configs that follow the source, beside those that always do.',
  }),
  'auto.create.mirror.topics.enable': booleanRow({
    default: false,
    doc: 'Creates mirrors of matching topics by itself; false clears the filters.',
  }),
  'auto.create.mirror.topics.filters': nameFiltersRow('topicFilters', 'Which topics are mirrored automatically.'),
  'auto.create.mirror.topics.interval.ms': ms(300_000, 'Period of the discovery of new topics.', 1000),
  'mirror.start.offset.spec': {
    type: 'string',
    default: 'earliest',
    mutable: true,
    doc: 'Where new mirrors start: earliest, latest or an ISO-8601 time.',
    parse: text => {
      parseStartOffsetSpec(text)
      return text.trim()
    },
    format: value => value,
  } satisfies ConfigRow<string> as ConfigRow<string>,
  'mirror.unclean.truncation.policy': enumRow({
    default: 'fail',
    values: ['fail', 'truncate'],
    doc: 'What to do when the source lost data that the mirror has.',
  }),
  'mirror.keep.retention.on.failover': booleanRow({ default: false, doc: 'Leaves parked retention at failover.' }),
  'group.sync.state.max.age.ms': ms(86_400_000, 'How long results of the group sync stay listed.', 1000),
}

const fetchRows = {
  'num.cluster.link.fetchers': intRow({
    default: 1,
    min: 1,
    max: 16,
    doc: 'Connections per source broker; 1 = chosen automatically, up to 4.',
  }),
  'replica.fetch.max.bytes': intRow({ default: 5_242_880, min: 1024, doc: 'Bytes of one partition in one fetch.' }),
  'replica.fetch.response.max.bytes': intRow({ default: 10_485_760, min: 1024, doc: 'Bytes of one fetch answer.' }),
  'replica.fetch.min.bytes': intRow({ default: 1, min: 0, doc: 'Bytes that the source waits for before it answers.' }),
  'replica.fetch.wait.max.ms': ms(500, 'How long the source waits for the minimum.', 0),
  'replica.fetch.backoff.ms': ms(1000, 'Wait after a failed fetch.', 0),
  'replica.socket.timeout.ms': ms(
    30_000,
    'How long the answer to a fetch is waited for beyond replica.fetch.wait.max.ms; while not set, request.timeout.ms holds.',
  ),
  'replica.socket.receive.buffer.bytes': intRow({
    default: -1,
    min: -1,
    doc: 'Receive buffer; accepted without effect: the system chooses (-1).',
  }),
  'metadata.max.age.ms': longMs(300_000, 'Age at which source metadata is read anew; partitions at least every 30 s.'),
  'request.timeout.ms': ms(30_000, 'How long an answer is waited for.'),
  'retry.backoff.ms': longMs(100, 'First wait before a request is repeated.'),
  'connections.max.idle.ms': intRow({
    default: 600_000,
    min: -1,
    long: true,
    doc: 'Connections on which nothing is asked are closed after this; -1 = never.',
  }),
  'socket.connection.setup.timeout.ms': longMs(10_000, 'How long a connection may take to open.'),
  'socket.connection.setup.timeout.max.ms': longMs(
    30_000,
    'What the connection timeout of an address grows to while it fails.',
  ),
  'client.dns.lookup': enumRow({
    default: 'use_all_dns_ips',
    values: ['use_all_dns_ips', 'resolve_canonical_bootstrap_servers_only'],
    doc: 'All addresses of a name are tried; the second value also replaces bootstrap servers by their canonical names.',
  }),
  'default.api.timeout.ms': ms(60_000, 'Bound of a question to the source with all its repetitions.'),
  'mirror.max.bytes.per.second': intRow({
    min: 1,
    long: true,
    doc: 'What the link fetches at most on each node; not set = no bound.',
  }),
  'fetch.max.in.flight.bytes': intRow({
    default: 67_108_864,
    min: 1_048_576,
    long: true,
    doc: 'Byte budget of the link on each node.',
  }),
}

export const linkConfigRows = { ...generalRows, ...syncRows, ...fetchRows, ...securityConfigRows }

export type LinkConfigKey = keyof typeof linkConfigRows

export const linkConfigKeys = Object.keys(linkConfigRows) as readonly LinkConfigKey[]

/** Other spellings that are accepted for a key. */
export const linkConfigSynonyms: Readonly<Record<string, LinkConfigKey>> = {
  'link.prefix': 'cluster.link.prefix',
  'local.listener': 'local.listener.name',
}
