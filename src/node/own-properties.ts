/** Lockstep's own node properties as rows, beside Kafka's; read by settings and by the generated configuration reference. */
import { type ConfigRow, enumRow, intRow, listRow, stringRow } from '../core/config-rows.ts'
import { logLevels } from '../core/logger-levels.ts'
import { isUuid } from '../core/uuid.ts'
import { type FirstUser, parseFirstUsers } from './security/first-users.ts'

const REST_LISTENER = /^http:\/\/(\[[0-9a-fA-F:]+\]|[^:/]+):(\d{1,5})\/?$/

export const ownProperties = {
  'cluster.id': stringRow({
    mutable: false,
    doc: 'Id of the cluster that this node makes up; taken from the data directory if absent, generated on the first start.',
    check: text => (isUuid(text) ? undefined : `must be 22 characters of base64url (16 bytes), not "${text}"`),
  }),
  'rest.listeners': listRow({
    default: ['http://127.0.0.1:8090'],
    mutable: false,
    doc: 'Where REST, metrics and health answer. Only http on loopback addresses for now.',
    check: items =>
      items.map(restListenerProblem).find(problem => problem) ??
      (items.length === 1 ? undefined : 'needs exactly one address'),
  }),
  'lockstep.answers.max.bytes': intRow({
    default: 268435456,
    min: 16777216,
    long: true,
    mutable: false,
    doc: 'Memory for answers to Kafka clients that are read from disk or wait to be taken. While it is used up, fetches wait, and clients that take nothing for five seconds are closed.',
  }),
  'lockstep.fetch.max.in.flight.bytes': intRow({
    default: 134217728,
    min: 1048576,
    long: true,
    mutable: false,
    doc: 'Bytes that all links of this node together may have in flight between sources and logs.',
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
  if (!found) return `must look like http://127.0.0.1:8090, not "${text}" (https needs a later version)`
  return isLoopback(found[1] ?? '')
    ? undefined
    : `"${text}" is not a loopback address; without logins REST may only listen on 127.0.0.1, [::1] or localhost`
}

/** A host that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
}

/** Host and port of a checked REST listener. */
export function parseRestListener(text: string): { host: string; port: number } {
  const found = REST_LISTENER.exec(text)
  if (!found) throw new RangeError(`not a REST listener: ${text}`)
  return { host: (found[1] ?? '').replace(/^\[|\]$/g, ''), port: Number(found[2]) }
}
