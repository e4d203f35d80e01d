// Listeners with TLS and logins: real clients log in to a node, and to a Kafka with the same properties, with the same outcomes.
import { doesNotMatch, match, ok, rejects, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ClientSecurity, ClientWriter } from '../clients/client-record.ts'
import { javaProperties } from '../clients/client-security.ts'
import { confluentWriter } from '../clients/confluent.ts'
import { javaWriter } from '../clients/java.ts'
import { kafkaJsWriter } from '../clients/kafkajs.ts'
import { kcatWriter } from '../clients/kcat.ts'
import { platformaticWriter } from '../clients/platformatic.ts'
import { eventually } from '../eventually.ts'
import { JavaError } from '../java/driver.ts'
import { skipWithout, type Tool } from '../requirements.ts'
import { ADMIN, GUEST, SECRETS } from '../security/credentials.ts'
import { hostKeyChanges, storesServe } from '../security/host-keys.ts'
import { rawLoginsAlike } from '../security/raw-logins.ts'
import { addScramUser, deleteScramUser, describeScramUser } from '../security/scram-users.ts'
import { BRIEF_SESSION_MS, WAYS, type Way } from '../security/secured-listeners.ts'
import { type SecuredWorld, startSecuredWorld, TOPIC, wayOf, writtenValues } from '../security/secured-world.ts'
import { tokensLogIn } from '../security/token-logins.ts'

const skip = skipWithout('java')
let started: SecuredWorld | undefined

function world(): SecuredWorld {
  if (started === undefined) throw new Error('the clusters did not start')
  return started
}

before(async () => {
  if (skip === false) started = await startSecuredWorld()
})
after(() => started?.close())

const writers: readonly { name: string; needs: readonly Tool[]; writer: () => ClientWriter }[] = [
  { name: 'Java', needs: ['java'], writer: () => javaWriter(world().java) },
  { name: 'kcat', needs: ['java', 'kcat'], writer: () => kcatWriter },
  { name: 'confluent-kafka', needs: ['java', 'python'], writer: () => confluentWriter },
  { name: 'KafkaJS', needs: ['java'], writer: () => kafkaJsWriter },
  { name: '@platformatic/kafka', needs: ['java'], writer: () => platformaticWriter },
]

interface Write {
  readonly way: Way
  readonly value: string
  readonly password?: string
  readonly patienceMs?: number
}

const write = (writer: ClientWriter, { way, value, password = ADMIN.password, ...rest }: Write) =>
  writer.write({
    bootstrap: world().lockstep[way.listener],
    topic: TOPIC,
    codec: 'none',
    acks: 'all',
    idempotent: false,
    records: [{ key: 'k', value, headers: [], timestamp: Date.now() }],
    security: way.security(world().credentials, { user: ADMIN.user, password }),
    ...rest,
  })

for (const { name, needs, writer } of writers) {
  test(`${name} logs in in every way, and writes`, { skip: skipWithout(...needs) }, async () => {
    for (const way of WAYS) await write(writer(), { way, value: `${name} ${way.name}` })
    const written = await writtenValues(world())
    for (const way of WAYS) ok(written.includes(`${name} ${way.name}`), way.name)
  })

  test(`${name} does not get in with a wrong password`, { skip: skipWithout(...needs) }, async () => {
    for (const way of [wayOf('SCRAM-SHA-512'), wayOf('PLAIN')])
      await rejects(write(writer(), { way, value: 'never', password: 'wrong', patienceMs: 5000 }))
    ok(!(await writtenValues(world())).includes('never'))
  })
}

/** What a Java client gets, by the class of the exception and the words of the broker. */
async function outcome(bootstrap: string, security: ClientSecurity, patienceMs = 30_000): Promise<string> {
  try {
    const properties = { ...javaProperties(security), 'max.block.ms': String(patienceMs) }
    await world().java.call('produce', { bootstrap, topic: TOPIC, records: [{ value: 'tried' }], properties })
    return 'written'
  } catch (error) {
    if (!(error instanceof JavaError)) throw error
    // Kafka tells mechanisms in no order.
    const sorted = (list: string) => list.slice(1, -1).split(', ').sort().join(' ')
    return `${error.javaClass}: ${error.message.split('\n')[0]}`.replaceAll(/\[[^\]]*\]/g, sorted)
  }
}

/** Everything that can be right or wrong about a way in. */
function triesOf(way: Way): ClientSecurity[] {
  const { credentials } = world()
  const good = way.security(credentials)
  const untrusting = { ...good, caFile: credentials.file('stranger-ca.pem') }
  if (good.mechanism === undefined) return [good, untrusting]
  const others = [GUEST, { user: 'admin', password: 'wrong' }, { user: 'nobody', password: 'wrong' }]
  const mechanism = way.listener === 'LOGIN' ? 'SCRAM-SHA-256' : 'PLAIN'
  const tries = [good, ...others.map(who => way.security(credentials, who)), { ...good, mechanism } as const]
  return way.listener === 'LOGIN' ? tries : [...tries, untrusting]
}

test('Java clients are told the same by Lockstep and by Kafka', { skip }, async () => {
  const { lockstep, kafka, credentials } = world()
  const told: string[] = []
  for (const way of WAYS) {
    for (const security of triesOf(way)) {
      const [ofLockstep, ofKafka] = await Promise.all([
        outcome(lockstep[way.listener], security),
        outcome(kafka[way.listener], security),
      ])
      strictEqual(ofLockstep, ofKafka, way.name)
      told.push(ofLockstep)
    }
  }
  for (const kind of ['written', 'TopicAuthorization', 'SaslAuthentication', 'UnsupportedSaslMechanism', 'SslAuthent'])
    ok(
      told.some(text => text.startsWith(kind)),
      kind,
    )
  const stranger = {
    ...wayOf('client').security(credentials),
    certificateFile: credentials.file('stranger.pem'),
    keyFile: credentials.file('stranger-key.pem'),
  }
  match(await outcome(kafka.MUTUAL, stranger), /^SslAuthenticationException/)
  // Node cannot send the alert that tells a client so: the connection just closes (docs/security.md).
  match(await outcome(lockstep.MUTUAL, stranger, 3000), /^TimeoutException|^SslAuth/)
})

test('logins are answered byte by byte as by Kafka, right and wrong ones', { skip }, async () => {
  const { lockstep, kafka } = world()
  await rawLoginsAlike(lockstep.LOGIN, kafka.LOGIN, 'endless')
  await rawLoginsAlike(lockstep.LASTING, kafka.LASTING, 'renewed')
})

test('tokens of an issuer log in, of Java and of others; tokens of strangers do not', { skip }, () =>
  tokensLogIn(world()),
)

test("users of SCRAM are made, shown and deleted by Kafka's own tool", { skip }, async () => {
  const { java, lockstep, kafka, credentials } = world()
  const carol = { user: 'carol', password: 'carol-s3cret' }
  const shown: string[] = []
  for (const at of [lockstep, kafka]) {
    await addScramUser(java, at.PLAINTEXT, carol)
    // Kafka tells them in no order.
    const words = (await describeScramUser(java, at.PLAINTEXT, carol.user)).split(/[\s,]+/)
    shown.push(words.sort().join(' '))
    const securities = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].map(name => wayOf(name).security(credentials, carol))
    // What Kafka's broker describes it does not use for logins at once.
    const told = async (expected: RegExp) => {
      for (const security of securities) {
        const attempt = async () => match(await outcome(at.SECURE, security), expected)
        await (at === kafka ? eventually(attempt) : attempt())
      }
    }
    await told(/^TopicAuthorizationException/)
    await deleteScramUser(java, at.PLAINTEXT, carol.user)
    await told(/^SaslAuthenticationException/)
  }
  strictEqual(shown[0], shown[1])
  doesNotMatch(shown.join(), /s3cret/)
})

test('a session is renewed by the client, again and again, on one connection', { skip }, async () => {
  const { java, lockstep, credentials } = world()
  const shared = { bootstrap: lockstep.BRIEF, admin: javaProperties(wayOf('PLAIN').security(credentials)) }
  const metric = (name: string) => java.call<number>('admin-metric', { ...shared, name })
  await eventually(
    async () => {
      await java.call('describe-topic', { ...shared, topic: TOPIC })
      ok((await metric('successful-reauthentication-total')) >= 3)
    },
    { timeoutMs: 60 * BRIEF_SESSION_MS, intervalMs: BRIEF_SESSION_MS / 10 },
  )
  strictEqual(await metric('failed-reauthentication-total'), 0)
})

test('a host key that is replaced, or named anew, is shown to new clients', { skip }, () => hostKeyChanges(world()))

test('stores of keytool serve as well', { skip }, () => storesServe(world()))

test('no secret is shown: not in the log, not by describing configs', { skip }, async () => {
  const { java, lockstep, node } = world()
  const broker = ['--bootstrap-server', lockstep.PLAINTEXT, '--entity-type', 'brokers', '--entity-name', '1']
  const args = [...broker, '--describe', '--all']
  const answer = await java.call<{ out: string }>('run-tool', { tool: 'kafka.admin.ConfigCommand', args })
  match(answer.out, /listener.name.login.plain.sasl.jaas.config/)
  for (const secret of SECRETS) {
    ok(!answer.out.includes(secret), secret)
    ok(!node.output.includes(secret), secret)
  }
  match(node.output, /a login failed/)
})
