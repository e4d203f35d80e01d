/** Security properties of a link, towards the remote cluster and (`local.`, kept for compatibility only) towards this one. */
import { type ConfigRow, enumRow, listRow, stringRow } from '../../core/config-rows.ts'

const text = (doc: string): ConfigRow<string> => stringRow({ doc })
const secret = (doc: string): ConfigRow<string> => stringRow({ doc, sensitive: true })

const saslRows = {
  'sasl.mechanism': text('Mechanism of the login: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER.'),
  'sasl.jaas.config': secret('Login module with user and password.'),
  'sasl.login.callback.handler.class': text('Accepted for OAuth links.'),
  'sasl.oauthbearer.token.endpoint.url': text('Where OAuth tokens come from.'),
}

const sslRows = {
  'ssl.cipher.suites': listRow({ doc: 'Cipher suites that may be used; not set = those of the TLS versions.' }),
  'ssl.enabled.protocols': listRow({ default: ['TLSv1.2', 'TLSv1.3'], doc: 'TLS versions that may be used.' }),
  'ssl.protocol': stringRow({ default: 'TLSv1.3', doc: 'Newest TLS version that is tried.' }),
  'ssl.endpoint.identification.algorithm': stringRow({
    default: 'https',
    doc: 'https = check host names; empty = no.',
  }),
  'ssl.keystore.type': text('PEM, PKCS12 or JKS; told by the content when absent.'),
  'ssl.keystore.location': text('File with the key of the client.'),
  'ssl.keystore.password': secret('Password of the key store.'),
  'ssl.keystore.key': secret('Private key as PEM.'),
  'ssl.keystore.certificate.chain': text('Certificate chain as PEM.'),
  'ssl.key.password': secret('Password of the private key.'),
  'ssl.truststore.type': text('PEM, PKCS12 or JKS; told by the content when absent.'),
  'ssl.truststore.location': text('File with the certificates that are trusted.'),
  'ssl.truststore.password': secret('Password of the trust store.'),
  'ssl.truststore.certificates': secret('Trusted certificates as PEM.'),
}

const protocols = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'] as const

type Local<T> = { [K in keyof T & string as `local.${K}`]: T[K] }

const local = <T extends object>(rows: T): Local<T> =>
  Object.fromEntries(Object.entries(rows).map(([key, row]) => [`local.${key}`, row])) as Local<T>

/** What Java clients know beside these; the local side has no client, so nothing has to understand them. */
const localOnly = {
  'sasl.client.callback.handler.class': text('Unused.'),
  'sasl.kerberos.service.name': text('Unused.'),
  'sasl.login.class': text('Unused.'),
  'ssl.keymanager.algorithm': text('Unused.'),
  'ssl.provider': text('Unused.'),
  'ssl.trustmanager.algorithm': text('Unused.'),
}

export const securityConfigRows = {
  'security.protocol': enumRow({
    default: 'PLAINTEXT',
    values: protocols,
    doc: 'How the remote cluster is spoken to.',
  }),
  ...saslRows,
  ...sslRows,
  'local.listener.name': text('Listener of this cluster for source-initiated links; unused.'),
  'local.security.protocol': enumRow({
    default: 'PLAINTEXT',
    values: protocols,
    doc: 'Protocol of the local side; unused.',
  }),
  ...local(saslRows),
  ...local(sslRows),
  ...local(localOnly),
}
