// The security of a client in the words of each client; used by the client programs and by the security suite.
import { readFileSync } from 'node:fs'
import type { SASLOptions } from 'kafkajs'
import type { ClientSecurity } from './client-record.ts'

const MODULES = {
  PLAIN: 'org.apache.kafka.common.security.plain.PlainLoginModule',
  'SCRAM-SHA-256': 'org.apache.kafka.common.security.scram.ScramLoginModule',
  'SCRAM-SHA-512': 'org.apache.kafka.common.security.scram.ScramLoginModule',
} as const

/** JAAS text of a login, for Java clients and for links. */
export const jaasConfig = ({ mechanism = 'PLAIN', user, password }: ClientSecurity): string =>
  `${MODULES[mechanism]} required username="${user}" password="${password}";`

const withoutEmpty = (properties: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )

const hasTls = (security: ClientSecurity): boolean => security.protocol !== 'SASL_PLAINTEXT'

const read = (file: string | undefined): string | undefined =>
  file === undefined ? undefined : readFileSync(file, 'utf8')

/** Properties of the Java clients, which are those of links too: with PEM in them. */
export function javaProperties(security: ClientSecurity | undefined): Record<string, string> {
  if (!security) return {}
  const tls = hasTls(security)
  const key = read(security.keyFile)
  return withoutEmpty({
    'security.protocol': security.protocol,
    'ssl.truststore.type': tls ? 'PEM' : undefined,
    'ssl.truststore.certificates': tls ? read(security.caFile) : undefined,
    'ssl.keystore.type': key === undefined ? undefined : 'PEM',
    'ssl.keystore.key': key,
    'ssl.keystore.certificate.chain': read(security.certificateFile),
    'sasl.mechanism': security.mechanism,
    'sasl.jaas.config': security.mechanism === undefined ? undefined : jaasConfig(security),
  })
}

/** Properties of librdkafka. */
export const librdkafkaProperties = (security: ClientSecurity | undefined): Record<string, string> =>
  security === undefined
    ? {}
    : withoutEmpty({
        'security.protocol': security.protocol,
        'ssl.ca.location': hasTls(security) ? security.caFile : undefined,
        'ssl.certificate.location': security.certificateFile,
        'ssl.key.location': security.keyFile,
        'sasl.mechanisms': security.mechanism,
        'sasl.username': security.user,
        'sasl.password': security.password,
      })

const nodeTls = (security: ClientSecurity) => ({
  ca: [readFileSync(security.caFile, 'utf8')],
  ...(security.certificateFile === undefined ? {} : { cert: readFileSync(security.certificateFile, 'utf8') }),
  ...(security.keyFile === undefined ? {} : { key: readFileSync(security.keyFile, 'utf8') }),
})

export function kafkaJsOptions(security: ClientSecurity | undefined): { ssl?: object; sasl?: SASLOptions } {
  if (!security) return {}
  const { mechanism, user: username = '', password = '' } = security
  const login = mechanism?.toLowerCase() as 'plain' | 'scram-sha-256' | 'scram-sha-512' | undefined
  return {
    ...(hasTls(security) ? { ssl: nodeTls(security) } : {}),
    ...(login ? { sasl: { mechanism: login, username, password } as SASLOptions } : {}),
  }
}

export function platformaticOptions(security: ClientSecurity | undefined) {
  if (!security) return {}
  const { mechanism, user: username = '', password = '' } = security
  return {
    ...(hasTls(security) ? { tls: nodeTls(security) } : {}),
    ...(mechanism ? { sasl: { mechanism, username, password } } : {}),
  }
}
