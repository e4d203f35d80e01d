/** Lockstep's own node properties as rows, beside Kafka's; read by settings and by the generated configuration reference. */
import { booleanRow, type ConfigRow, enumRow, intRow, listRow, stringRow } from '../core/config-rows.ts'
import { logLevels } from '../core/logger-levels.ts'
import { isUuid } from '../core/uuid.ts'
import { type FirstUser, parseFirstUsers } from './security/first-users.ts'

const REST_LISTENER = /^(https?):\/\/(\[[0-9a-fA-F:]+\]|[^:/]+):(\d{1,5})\/?$/

export const ownProperties = {
  'cluster.id': stringRow({
    mutable: false,
    doc: 'Id of the cluster that this node makes up; taken from the data directory if absent, generated on the first start.',
    check: text => (isUuid(text) ? undefined : `must be 22 characters of base64url (16 bytes), not "${text}"`),
  }),
  'rest.listeners': listRow({
    default: ['http://127.0.0.1:8090'],
    mutable: false,
    doc: 'Where REST, metrics and health answer, with http or https. Key and certificates of https are those of a listener named REST: listener.name.rest.ssl.keystore.location and so on, or without the prefix.',
    check: items =>
      items.map(restListenerProblem).find(problem => problem) ??
      (items.length === 1 ? undefined : 'needs exactly one address'),
  }),
  'rest.advertised.listeners': listRow({
    mutable: false,
    doc: 'Where others reach REST; the address of rest.listeners if absent. Shown by GET /nodes.',
    check: items =>
      items.map(restListenerProblem).find(problem => problem) ??
      (items.length === 1 ? undefined : 'needs exactly one address'),
  }),
  'rest.users': stringRow({
    mutable: false,
    doc: 'File of the users that may log in to REST, a line each: user: password, or user: hash as `lockstep user hash` prints it. Read again when it changes. Without it the SCRAM users of the cluster log in.',
  }),
  'rest.allow.anonymous': booleanRow({
    default: false,
    mutable: false,
    doc: 'Let requests without a login in as User:ANONYMOUS on any address. On loopback addresses that is so unless rest.users is set.',
  }),
  'rest.metrics.without.login': booleanRow({
    default: false,
    mutable: false,
    doc: 'May /metrics be read without a login? Otherwise it needs DESCRIBE on the cluster.',
  }),
  'lockstep.answers.max.bytes': intRow({
    default: 268435456,
    min: 16777216,
    long: true,
    mutable: false,
    doc: 'Memory for answers to Kafka clients that are read from disk or wait to be taken. While it is used up, fetches wait, and clients that take nothing for five seconds are closed.',
  }),
  'lockstep.export.directory': stringRow({
    mutable: false,
    doc: 'Where truncate-and-restore puts the records that it cuts off, if that is asked for. Default: a directory beside the data directory, of its name with -exports behind it.',
  }),
  'lockstep.fetch.max.in.flight.bytes': intRow({
    default: 134217728,
    min: 1048576,
    long: true,
    mutable: false,
    doc: 'Bytes that all links of this node together may have in flight between sources and logs.',
  }),
  'mirror.reverse.transaction.wait.ms': intRow({
    default: 60_000,
    min: 0,
    max: 900_000,
    mutable: false,
    doc: 'How long a topic whose mirror takes over (reverse-and-start, reverse-and-pause) waits for transactions that are open in it. Nobody can write it meanwhile; then they are aborted, which fences their producers, and counted.',
  }),
  'lockstep.bootstrap.scram.users': {
    type: 'password',
    default: [],
    mutable: false,
    sensitive: true,
    doc: 'SCRAM users that a node with an empty data directory begins with, as in kafka-storage format --add-scram: SCRAM-SHA-512=[name=admin,password=secret]; more behind semicolons.',
    parse: parseFirstUsers,
    format: users => users.map(({ name }) => name).join(', '),
  } satisfies ConfigRow<FirstUser[]> as ConfigRow<FirstUser[]>,
  'lockstep.secret.key.file': stringRow({
    mutable: false,
    doc: 'File with the keys that encrypt secrets of links: base64 of 32 bytes a line, the first encrypts. Default: lockstep-secret.key in the data directory, made when it is not there.',
  }),
  'lockstep.tls.reload.interval.ms': intRow({
    default: 10_000,
    min: 100,
    mutable: false,
    doc: 'How often the files of key stores and trust stores are looked at; changed ones are used for new connections.',
  }),
  'lockstep.log.level': enumRow({
    default: 'info',
    values: logLevels,
    mutable: false,
    doc: 'Least severe lines written to the log.',
  }),
} as const

export type OwnPropertyName = keyof typeof ownProperties

export const isOwnProperty = (name: string): name is OwnPropertyName => Object.hasOwn(ownProperties, name)

/** The row's value type. */
export type OwnPropertyValue<N extends OwnPropertyName> =
  (typeof ownProperties)[N] extends ConfigRow<infer T> ? T : never

function restListenerProblem(text: string): string | undefined {
  const found = REST_LISTENER.exec(text)
  return found ? undefined : `must look like http://127.0.0.1:8090 or https://[::]:8443, not "${text}"`
}

/** A host that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
}

/** The parts of a checked REST listener. */
export function parseRestListener(text: string): { host: string; port: number; tls: boolean } {
  const found = REST_LISTENER.exec(text)
  if (!found) throw new RangeError(`not a REST listener: ${text}`)
  const [, scheme, host = '', port] = found
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port), tls: scheme === 'https' }
}
