/** The configs of groups in Kafka 4.3.1 (KIP-848, KIP-932, KIP-1071): rows, the server property behind each and its limits; read by validation, DescribeConfigs and the coordinators. */
import type { ConfigRow } from '../core/config-rows.ts'
import { type ConfigValue, type KafkaProperty, propertyRow, valueProblem } from './kafka-property.ts'

export interface GroupConfig {
  readonly name: string
  readonly property: KafkaProperty
  readonly row: ConfigRow<ConfigValue>
  /** The server property that groups without a value of their own follow. */
  readonly server?: string
  /** Server properties that bound the value. */
  readonly least?: string
  readonly most?: string
}

/** An ISO 8601 duration of at most days that is not negative. */
const DURATION = /^P(?=.)(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d{1,9})?S)?)?$/i
const BY_DURATION = 'by_duration:'

const isReset = (text: string): boolean =>
  text === 'earliest' ||
  text === 'latest' ||
  (text.startsWith(BY_DURATION) && DURATION.test(text.slice(BY_DURATION.length)))

type Spec = KafkaProperty & { readonly doc: string; readonly server?: true; readonly bounds?: 'both' | 'most' }

const specs: Readonly<Record<string, Spec>> = {
  'consumer.assignment.interval.ms': {
    type: 'int',
    default: '1000',
    min: 0,
    server: true,
    bounds: 'most',
    doc: 'Shortest time between two assignments of a consumer group.',
  },
  'consumer.heartbeat.interval.ms': {
    type: 'int',
    default: '5000',
    min: 1,
    server: true,
    bounds: 'both',
    doc: 'How often members of a consumer group send heartbeats.',
  },
  'consumer.session.timeout.ms': {
    type: 'int',
    default: '45000',
    min: 1,
    server: true,
    bounds: 'both',
    doc: 'Silence after which a member of a consumer group is taken for gone.',
  },
  'share.assignment.interval.ms': {
    type: 'int',
    default: '1000',
    min: 0,
    server: true,
    bounds: 'most',
    doc: 'Shortest time between two assignments of a share group.',
  },
  'share.auto.offset.reset': {
    type: 'string',
    default: 'latest',
    doc: 'Where a share group begins: earliest, latest or by_duration:<ISO 8601 duration>.',
  },
  'share.delivery.count.limit': {
    type: 'int',
    default: '5',
    min: 2,
    server: true,
    bounds: 'both',
    doc: 'How often a record is given to members of a share group at most.',
  },
  'share.heartbeat.interval.ms': {
    type: 'int',
    default: '5000',
    min: 1,
    server: true,
    bounds: 'both',
    doc: 'How often members of a share group send heartbeats.',
  },
  'share.isolation.level': {
    type: 'string',
    default: 'read_uncommitted',
    values: ['read_committed', 'read_uncommitted'],
    doc: 'Does a share group see records of transactions that are aborted or still open?',
  },
  'share.partition.max.record.locks': {
    type: 'int',
    default: '2000',
    min: 100,
    server: true,
    bounds: 'both',
    doc: 'Records of a partition that members of a share group may hold at a time.',
  },
  'share.record.lock.duration.ms': {
    type: 'int',
    default: '30000',
    min: 1000,
    server: true,
    bounds: 'both',
    doc: 'How long a member of a share group may hold a record.',
  },
  'share.renew.acknowledge.enable': {
    type: 'boolean',
    default: 'true',
    doc: 'May members of a share group hold a record for longer by asking?',
  },
  'share.session.timeout.ms': {
    type: 'int',
    default: '45000',
    min: 1,
    server: true,
    bounds: 'both',
    doc: 'Silence after which a member of a share group is taken for gone.',
  },
  'streams.assignment.interval.ms': {
    type: 'int',
    default: '1000',
    min: 0,
    server: true,
    bounds: 'most',
    doc: 'Shortest time between two assignments of a streams group.',
  },
  'streams.heartbeat.interval.ms': {
    type: 'int',
    default: '5000',
    min: 1,
    server: true,
    bounds: 'both',
    doc: 'How often members of a streams group send heartbeats.',
  },
  'streams.initial.rebalance.delay.ms': {
    type: 'int',
    default: '3000',
    min: 0,
    server: true,
    doc: 'How long the first assignment of a streams group waits for more members.',
  },
  'streams.num.standby.replicas': {
    type: 'int',
    default: '0',
    min: 0,
    server: true,
    bounds: 'most',
    doc: 'Standby replicas of each task of a streams group.',
  },
  'streams.session.timeout.ms': {
    type: 'int',
    default: '45000',
    min: 1,
    server: true,
    bounds: 'both',
    doc: 'Silence after which a member of a streams group is taken for gone.',
  },
}

/** `consumer.session.timeout.ms` is bounded by `group.consumer.min.…` and `group.consumer.max.session.timeout.ms`. */
function boundName(name: string, bound: 'min' | 'max'): string {
  const [kind = '', ...rest] = name.split('.')
  // The bound of the number of standbys does not repeat "num".
  return `group.${kind}.${bound}.${rest.filter(part => part !== 'num').join('.')}`
}

/** All rows by name, in the order of their names. */
export const groupConfigs: ReadonlyMap<string, GroupConfig> = new Map(
  Object.entries(specs).map(([name, { doc, server, bounds, ...property }]) => {
    return [
      name,
      {
        name,
        property,
        row: propertyRow(property, doc),
        ...(server ? { server: `group.${name}` } : {}),
        ...(bounds === 'both' ? { least: boundName(name, 'min') } : {}),
        ...(bounds === undefined ? {} : { most: boundName(name, 'max') }),
      },
    ]
  }),
)

/** Why a group may not have these overrides (all of them together); undefined if it may. `server` gives effective values of server properties. */
export function groupOverridesProblem(
  overrides: ReadonlyMap<string, string>,
  server: (name: string) => string,
): string | undefined {
  for (const [name, value] of overrides) {
    const config = groupConfigs.get(name)
    if (config === undefined) return `Unknown group config name: ${name}`
    const problem = valueProblem(name, config.row, value) ?? boundsProblem(config, Number(value), server)
    if (problem !== undefined) return problem
    if (name === 'share.auto.offset.reset' && !isReset(value))
      return `Invalid value ${value} for configuration ${name}: must be earliest, latest or by_duration:<PnDTnHnMn.nS>`
  }
  for (const kind of ['consumer', 'share', 'streams']) {
    const effective = (name: string) => Number(overrides.get(name) ?? server(`group.${name}`))
    const [session, heartbeat] = [`${kind}.session.timeout.ms`, `${kind}.heartbeat.interval.ms`]
    if ((overrides.has(session) || overrides.has(heartbeat)) && effective(session) <= effective(heartbeat))
      return `${session} must be greater than ${heartbeat}`
  }
  return undefined
}

function boundsProblem(
  { name, least, most }: GroupConfig,
  value: number,
  server: (name: string) => string,
): string | undefined {
  if (least !== undefined && value < Number(server(least))) return `${name} must be greater than or equal to ${least}`
  if (most !== undefined && value > Number(server(most))) return `${name} must be less than or equal to ${most}`
  return undefined
}
