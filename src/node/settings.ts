/** Reads a node's properties file (Kafka's names and our own) into checked settings; called by `lockstep server`. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse } from 'dot-properties'
import { ConfigValueError } from '../core/config-rows.ts'
import { messageOf } from '../core/errors.ts'
import type { Uuid } from '../core/uuid.ts'
import { ownDefaults } from '../metadata/applied-properties.ts'
import type { Authorizer } from '../metadata/authorizer.ts'
import { brokerConfig, judgeProperty } from '../metadata/broker-configs.ts'
import { authorizerOf } from './authorizer-settings.ts'
import { type JoinedSettings, joinedSettings } from './joined/joined-settings.ts'
import { type ListenerSettings, parseListeners } from './listeners.ts'
import { isOwnProperty, type OwnPropertyName, type OwnPropertyValue, ownProperties } from './own-properties.ts'
import { type RestSettings, restSettings } from './rest/rest-settings.ts'
import type { FirstUser } from './security/first-users.ts'
import { securityProblems } from './security/listener-security.ts'
import { SettingsError } from './settings-error.ts'

export interface NodeSettings {
  readonly nodeId: number
  readonly rack: string | null
  /** From the file; undefined = from the data directory, or generated. */
  readonly clusterId: Uuid | undefined
  readonly listeners: ListenerSettings
  readonly authorizer: Authorizer
  /** Of the cluster that this node joins; undefined = it is a cluster of its own. */
  readonly joined: JoinedSettings | undefined
  readonly dataDirectory: string
  readonly metadataDirectory: string
  readonly rest: RestSettings
  readonly fetchInFlightBytesMax: number
  readonly answerBytesMax: number
  readonly logLevel: OwnPropertyValue<'lockstep.log.level'>
  readonly firstUsers: readonly FirstUser[]
  readonly tlsReloadMs: number
  readonly secretKeyFile: string | undefined
  /** For what restores cut off; undefined = beside the data directory. */
  readonly exportDirectory: string | undefined
  /** How long a reverse waits for open transactions. */
  readonly reverseTransactionWaitMs: number
  /** Kafka's properties as they stand in the file, for defaults of topics and for DescribeConfigs. */
  readonly kafka: ReadonlyMap<string, string>
  /** What the operator should know, once. */
  readonly warnings: readonly string[]
}

/** Name/value pairs of a Java properties file. Throws SettingsError when it cannot be read or parsed. */
export function readPropertiesFile(path: string): Map<string, string> {
  try {
    return new Map(
      Object.entries(parse(readFileSync(path, 'utf8'))).map(([name, value]) => [name, String(value).trim()]),
    )
  } catch (error) {
    throw new SettingsError([`cannot read ${path}: ${messageOf(error)}`])
  }
}

/** Checks everything and throws one SettingsError that lists all problems. Nothing is created. */
export function parseSettings(properties: ReadonlyMap<string, string>): NodeSettings {
  const problems: string[] = []
  const warnings = judgeNames(properties, problems)
  checkKafkaValues(properties, problems)
  const own = <N extends OwnPropertyName>(name: N) => ownValue(properties, name, problems)
  const authorizer = authorizerOf(properties, { problems, warnings })
  const rest = restSettings(
    {
      listener: own('rest.listeners')?.[0] ?? 'http://127.0.0.1:0',
      advertised: own('rest.advertised.listeners')?.[0],
      usersFile: own('rest.users'),
      allowAnonymous: own('rest.allow.anonymous') ?? false,
      metricsOpen: own('rest.metrics.without.login') ?? false,
    },
    authorizer,
    { problems, warnings },
  )
  const dataDirectory = directoryOf(properties, problems)
  const joined = isBrokerOnly(properties, problems) ? joinedSettings(properties, problems) : undefined
  const settings: NodeSettings = {
    nodeId: Number(properties.get('node.id') ?? properties.get('broker.id') ?? 1),
    rack: properties.get('broker.rack') ?? null,
    clusterId: own('cluster.id') as Uuid | undefined,
    listeners: parseListeners(
      {
        listeners: properties.get('listeners'),
        advertised: properties.get('advertised.listeners'),
        protocolMap: properties.get('listener.security.protocol.map'),
        controllerNames: properties.get('controller.listener.names'),
      },
      problems,
    ),
    authorizer,
    joined,
    dataDirectory,
    metadataDirectory: resolve(properties.get('metadata.log.dir') ?? dataDirectory),
    rest,
    fetchInFlightBytesMax: own('lockstep.fetch.max.in.flight.bytes') ?? 0,
    answerBytesMax: own('lockstep.answers.max.bytes') ?? 0,
    logLevel: own('lockstep.log.level') ?? 'info',
    firstUsers: own('lockstep.bootstrap.scram.users') ?? [],
    tlsReloadMs: own('lockstep.tls.reload.interval.ms') ?? 10_000,
    secretKeyFile: own('lockstep.secret.key.file'),
    exportDirectory: own('lockstep.export.directory'),
    reverseTransactionWaitMs: own('mirror.reverse.transaction.wait.ms') ?? 60_000,
    kafka: kafkaProperties(properties),
    warnings,
  }
  if (joined) requireFollowersListener(settings.listeners, joined, problems)
  if (problems.length === 0)
    problems.push(
      ...[...settings.listeners.listen, rest.endpoint].flatMap(endpoint => securityProblems(endpoint, properties)),
    )
  if (problems.length > 0) throw new SettingsError(problems)
  return settings
}

/** As in Kafka: without it other brokers could not follow this one. */
function requireFollowersListener({ listen }: ListenerSettings, { brokers }: JoinedSettings, problems: string[]): void {
  const names = listen.map(({ name }) => name)
  if (listen.length === 0 || names.includes(brokers.name)) return
  problems.push(
    `inter.broker.listener.name: brokers reach each other under ${brokers.name}, and listeners has ${names.join(', ')} alone`,
  )
}

/** A number property of Kafka: the file's value or the default. */
export function numberOf({ kafka }: Pick<NodeSettings, 'kafka'>, name: string): number {
  const row = brokerConfig(name)?.row
  const text = kafka.get(name)
  return Number(text === undefined ? row?.default : row?.parse(text))
}

/** Where this node's default differs from Kafka's it is set, so that DescribeConfigs tells the truth. */
function kafkaProperties(properties: ReadonlyMap<string, string>): Map<string, string> {
  const id = properties.get('node.id') ?? properties.get('broker.id')
  // Each is told under both names, as Kafka does.
  const ids: [string, string][] = id === undefined ? [] : ['node.id', 'broker.id'].map(name => [name, id])
  return new Map([...Object.entries(ownDefaults), ...ids, ...[...properties].filter(([name]) => !isOwnProperty(name))])
}

/** Unknown names are problems; known ones without effect give one warning together. */
function judgeNames(properties: ReadonlyMap<string, string>, problems: string[]): string[] {
  const ignored: string[] = []
  for (const name of properties.keys()) {
    if (isOwnProperty(name)) continue
    const verdict = judgeProperty(name, Object.keys(ownProperties))
    if (verdict.kind === 'accepted') ignored.push(name)
    if (verdict.kind === 'unknown')
      problems.push(
        `unknown property "${name}"${verdict.nearest === undefined ? '' : `; did you mean "${verdict.nearest}"?`}`,
      )
  }
  return ignored.length === 0
    ? []
    : [`these properties have no effect in a Lockstep node: ${ignored.sort().join(', ')}`]
}

function checkKafkaValues(properties: ReadonlyMap<string, string>, problems: string[]): void {
  for (const [name, text] of properties) {
    const row = isOwnProperty(name) ? undefined : brokerConfig(name)?.row
    try {
      row?.parse(text)
    } catch (error) {
      if (!(error instanceof ConfigValueError)) throw error
      problems.push(`${name} ${row?.sensitive ? 'has a value that is not accepted' : error.message}`)
    }
  }
}

function ownValue<N extends OwnPropertyName>(
  properties: ReadonlyMap<string, string>,
  name: N,
  problems: string[],
): OwnPropertyValue<N> | undefined {
  const text = properties.get(name)
  try {
    return (text === undefined ? ownProperties[name].default : ownProperties[name].parse(text)) as
      | OwnPropertyValue<N>
      | undefined
  } catch (error) {
    if (!(error instanceof ConfigValueError)) throw error
    problems.push(`${name} ${error.message}`)
    return undefined
  }
}

function directoryOf(properties: ReadonlyMap<string, string>, problems: string[]): string {
  const directories = (properties.get('log.dirs') ?? properties.get('log.dir') ?? ownDefaults['log.dir'] ?? '.')
    .split(',')
    .flatMap(item => item.trim() || [])
  if (directories.length !== 1) problems.push('log.dirs: exactly one directory is supported')
  return resolve(directories[0] ?? '.')
}

/** `process.roles=broker`: joined. Everything but that and the combined mode is a problem. */
function isBrokerOnly(properties: ReadonlyMap<string, string>, problems: string[]): boolean {
  const roles = (properties.get('process.roles') ?? 'broker,controller')
    .split(',')
    .map(role => role.trim())
    .sort()
    .join(',')
  if (roles === 'broker') return true
  if (roles !== 'broker,controller') problems.push(`process.roles must be broker,controller or broker, not "${roles}"`)
  const voters = properties.get('controller.quorum.voters')?.split(',') ?? []
  if (voters.length > 1)
    problems.push(
      'controller.quorum.voters: a standalone node is a quorum of its own and may name only itself; to join a cluster, set process.roles=broker',
    )
  return false
}
