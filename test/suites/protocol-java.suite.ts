/** Messages against Kafka's own classes: tables as in the jars, bytes, error codes and header versions as Java has them. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { messageFiles, readDefinitions } from '../../scripts/messages/message-files.ts'
import { seededRandom } from '../../src/core/random.ts'
import { allApis } from '../../src/protocol/api-registry.ts'
import { errorName, kafkaErrors } from '../../src/protocol/errors.ts'
import { everyMessageVersion, type MessageVersion } from '../../src/protocol/fakes/every-message.ts'
import { randomValue } from '../../src/protocol/fakes/random-value.ts'
import type { AnyField, Fields, ScalarKind, Struct } from '../../src/protocol/schema/field.ts'
import { elementOf, isPresent, structOf } from '../../src/protocol/schema/message-shape.ts'
import { JavaDriver } from '../java/driver.ts'
import { kafkaJars, skipWithoutJava } from '../kafka/jars.ts'

const VALUES_PER_VERSION = 16
const ITEMS_PER_CALL = 300

/** Numbers of 64 bits go into the JSON digit by digit. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown }

const skip = skipWithoutJava()
let java: JavaDriver | undefined

before(async () => {
  if (!skip) java = await JavaDriver.start({ version: '4.3.1' })
})
after(async () => {
  await java?.close()
})

/** The driver, once it runs. */
function oracle(): JavaDriver {
  ok(java)
  return java
}

test('the committed tables are what the generator makes from the jars', { skip }, async () => {
  const protocol = new URL('../../src/protocol/', import.meta.url)
  for (const [path, text] of messageFiles(readDefinitions(await kafkaJars('4.3.1')))) {
    strictEqual(readFileSync(new URL(path, protocol), 'utf8'), text, path)
  }
})

test('Java encodes the same values to the same bytes, every message in every version', { skip }, async () => {
  const seed = randomInt(2 ** 32)
  const random = seededRandom(seed)
  const cases = everyMessageVersion.flatMap(shape =>
    Array.from({ length: VALUES_PER_VERSION }, () => ({ shape, value: randomValue(random, shape) })),
  )
  for (let from = 0; from < cases.length; from += ITEMS_PER_CALL) {
    const batch = cases.slice(from, from + ITEMS_PER_CALL)
    const items = batch.map(({ shape, value }) => ({
      message: shape.name,
      version: shape.version,
      value: jsonStruct(shape, shape.fields, value),
    }))
    const encodings = await oracle().call<string[]>('encode-messages', { items })
    for (const [index, { shape, value }] of batch.entries()) {
      const ours = shape.message.encode(value, shape.version).toString('base64')
      const details = `${shape.name} v${shape.version}, seed ${seed}: ${JSON.stringify(items[index]?.value)}`
      strictEqual(ours, encodings[index], details)
    }
  }
})

test('the error codes are those of Kafka', { skip }, async () => {
  const rows = await oracle().call<{ name: string; code: number; retriable: boolean }[]>('list-errors')
  deepStrictEqual(
    Object.values(kafkaErrors).map(({ code, retriable }) => ({ name: errorName(code), code, retriable })),
    rows.map(({ name, code, retriable }) => ({ name, code, retriable })).sort((a, b) => a.code - b.code),
  )
})

test('versions and header versions of the APIs are those of Kafka', { skip }, async () => {
  const ours = allApis.map(({ key, name, request, ...api }) => {
    const { min, max } = request.versions
    const versions = Array.from({ length: max - min + 1 }, (_, index) => min + index)
    const requestHeaders = versions.map(version => api.requestHeaderVersion(version))
    const responseHeaders = versions.map(version => api.responseHeaderVersion(version))
    const stableMax = request.latestVersionUnstable ? max - 1 : max
    return { key, name, min, max, stableMax, requestHeaders, responseHeaders }
  })
  deepStrictEqual(ours, await oracle().call('list-apis'))
})

/** The value as Kafka's JSON converters want it. Fields beyond the version go along (if Java reads them there): it refuses defaults it does not share. */
function jsonStruct(shape: MessageVersion, fields: Fields, value: unknown): Record<string, unknown> {
  const record = value as Record<string, unknown>
  const entries = Object.entries(fields).filter(([, field]) => field.kind !== 'struct' || isPresent(shape, field))
  return Object.fromEntries(entries.map(([name, field]) => [name, jsonField(shape, field, record[name])]))
}

function jsonField(shape: MessageVersion, field: AnyField, value: unknown): unknown {
  if (value === null) return null
  if (field.kind === 'struct') return jsonStruct(shape, structOf(field).fields, value)
  if (field.kind !== 'array') return jsonScalar(value)
  return (value as unknown[]).map(item => jsonElement(shape, elementOf(field), item))
}

const jsonElement = (shape: MessageVersion, element: Struct<unknown, unknown> | ScalarKind, value: unknown): unknown =>
  typeof element === 'string' ? jsonScalar(value) : jsonStruct(shape, element.fields, value)

function jsonScalar(value: unknown): unknown {
  if (typeof value === 'bigint') return rawJson(String(value))
  return Buffer.isBuffer(value) ? value.toString('base64') : value
}
