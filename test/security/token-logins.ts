// Logins with tokens of an issuer, by Java and by KafkaJS; a test of the security suite.
import { ok, rejects } from 'node:assert/strict'
import { type KafkaConfig, Partitioners } from 'kafkajs'
import { patientKafkaJs } from '../clients/kafkajs.ts'
import { JavaError } from '../java/driver.ts'
import { ADMIN, GUEST } from './credentials.ts'
import { type SecuredWorld, TOPIC, writtenValues } from './secured-world.ts'
import { TokenIssuer } from './token-issuer.ts'

/** Java asks the token endpoint itself. */
function javaLogin(user: string, tokenUrl: string): Record<string, string> {
  const secured = 'org.apache.kafka.common.security.oauthbearer'
  return {
    'security.protocol': 'SASL_PLAINTEXT',
    'sasl.mechanism': 'OAUTHBEARER',
    'sasl.login.callback.handler.class': `${secured}.OAuthBearerLoginCallbackHandler`,
    'sasl.oauthbearer.token.endpoint.url': tokenUrl,
    'sasl.jaas.config': `${secured}.OAuthBearerLoginModule required clientId="${user}" clientSecret="x";`,
  }
}

async function writeWithToken(bootstrap: string, token: string, more: Partial<KafkaConfig> = {}): Promise<void> {
  const sasl = { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value: token }) } as const
  const kafka = patientKafkaJs(bootstrap, { sasl, ...more })
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  try {
    await producer.connect()
    await producer.send({ topic: TOPIC, messages: [{ value: 'by token' }] })
  } finally {
    await producer.disconnect()
  }
}

export async function tokensLogIn(world: SecuredWorld): Promise<void> {
  const { java, issuer, tokens } = world
  const allowed = 'org.apache.kafka.sasl.oauthbearer.allowed.urls'
  await java.call('set-property', { name: allowed, value: issuer.tokenUrl })
  const produce = (user: string) => {
    const properties = javaLogin(user, issuer.tokenUrl)
    return java.call('produce', { bootstrap: tokens, topic: TOPIC, records: [{ value: `by ${user}` }], properties })
  }
  await produce(ADMIN.user)
  await rejects(
    produce(GUEST.user),
    error => error instanceof JavaError && error.javaClass === 'TopicAuthorizationException',
  )
  await writeWithToken(tokens, await issuer.token(ADMIN.user))
  // It repeats a login that was refused, too.
  const once = { retry: { retries: 0 } }
  await rejects(writeWithToken(tokens, await issuer.token(ADMIN.user, -3600), once))
  const stranger = await TokenIssuer.start()
  try {
    await rejects(writeWithToken(tokens, await stranger.token(ADMIN.user), once))
  } finally {
    await stranger.close()
  }
  const written = await writtenValues(world)
  ok(written.includes(`by ${ADMIN.user}`) && written.includes('by token'))
}
