/** JAAS texts as Kafka's tokenizer reads them. */
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { JaasError, parseJaas } from './jaas.ts'

const PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule'
const optionsOf = (text: string) => Object.fromEntries(parseJaas(`${PLAIN} required ${text};`).options)

test('a module, a flag and options, over lines and with comments', () => {
  const { module, options } = parseJaas(`
    ${PLAIN} Required   // who we are
      username="alice" /* and
      */ password='s3"cret'
      user_bob-2 = "x";
  `)
  equal(module, PLAIN)
  deepEqual(Object.fromEntries(options), { username: 'alice', password: 's3"cret', 'user_bob-2': 'x' })
})

test('values keep what is inside their quotes', () => {
  deepEqual(optionsOf(String.raw`a="b;c=d // e" f="\"\\\t\101\q" g=word$1.x-y h=""`), {
    a: 'b;c=d // e',
    f: '"\\\tAq',
    g: 'word$1.x-y',
    h: '',
  })
})

test('no option is possible', () => deepEqual(optionsOf(''), {}))

for (const [what, text] of [
  ['nothing', ''],
  ['a comment alone', '// nothing'],
  ['no flag', PLAIN],
  ['another flag', `${PLAIN} perhaps;`],
  ['no semicolon', `${PLAIN} required user="hunter2"`],
  ['no value', `${PLAIN} required user=;`],
  ['no equals sign', `${PLAIN} required user hunter2;`],
  ['a number without quotes', `${PLAIN} required user=123;`],
  ['a value without its quote', `${PLAIN} required user=hunter2";`],
  ['two modules', `${PLAIN} required a="b"; ${PLAIN} required a="hunter2";`],
] as const)
  test(`${what} is refused without repeating values`, () => {
    throws(
      () => parseJaas(text),
      error => error instanceof JaasError && !error.message.includes('hunter2'),
    )
  })
