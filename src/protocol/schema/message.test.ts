/** The table language: versions, nulls, tags, defaults, ignorable fields and chunks, on a small message of its own. */
import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { ZERO_UUID } from '../../core/uuid.ts'
import { array, bool, bytes, int8, int16, int32, int64, list, one, records, string, struct, uuid } from './field.ts'
import { api, type Input, message } from './message.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

const Part = struct({ index: int32(), data: bytes({ versions: '1+', nullable: '2+', ignorable: true }) })
const Owner = struct({ id: int32({ default: -1 }), rack: string({ nullable: '2+', default: null }) })

const Sample = message({
  name: 'Sample',
  apiKey: 300,
  versions: '0-3',
  flexibleFrom: 2,
  fields: {
    name: string(),
    mode: int8({ versions: '1+', default: 3 }),
    hint: int16({ versions: '1-2', ignorable: true }),
    parts: array(Part, { nullable: '1+' }),
    owner: one(Owner, { versions: '2+', tag: 1 }),
    since: int64({ versions: '2+', default: -1n, tag: 0 }),
    boss: one(Owner, { versions: '3+', nullable: '3+', default: null }),
    ids: list(uuid, { versions: '3+' }),
    labels: list(string, { versions: '3+', nullable: '3+', default: null, tag: 2 }),
  },
})

const minimal: Input<typeof Sample> = { name: 'n', parts: [] }
const hex = (value: Input<typeof Sample>, version: number): string => Sample.encode(value, version).toString('hex')

test('a version without flexible lengths has big-endian lengths and no tag section', () => {
  strictEqual(hex({ name: 'ab', parts: [{ index: 7 }] }, 0), '000261620000000100000007')
  strictEqual(hex(minimal, 1), '00016e' + '03' + '0000' + '00000000')
})

test('a flexible version has compact lengths and a tag section per struct', () => {
  strictEqual(
    hex({ name: 'ab', parts: [{ index: 7, data: null }] }, 2),
    '036162' + '03' + '0000' + '02' + '00000007' + '00' + '00' + '00',
  )
})

test('tagged fields are written in the order of their tags, only where they differ from the default', () => {
  const common = '026e' + '03' + '0000' + '01'
  const since = '0008' + '0000000000000005'
  const owner = '0106' + '00000009' + '00' + '00'
  strictEqual(hex({ ...minimal, since: -1n, owner: { id: -1, rack: null } }, 2), `${common}00`)
  strictEqual(hex({ ...minimal, since: 5n }, 2), `${common}01${since}`)
  strictEqual(hex({ ...minimal, since: 5n, owner: { id: 9 } }, 2), `${common}02${since}${owner}`)
})

test('left out fields are encoded as their default, and fields the version lacks decode to it', () => {
  deepStrictEqual(Sample.decode(Sample.encode(minimal, 0), 0), {
    name: 'n',
    mode: 3,
    hint: 0,
    parts: [],
    owner: { id: -1, rack: null },
    since: -1n,
    boss: null,
    ids: [],
    labels: null,
  })
})

test('null goes through where the version allows it, else encoding refuses', () => {
  strictEqual(Sample.decode(Sample.encode({ name: '', parts: null }, 1), 1).parts, null)
  throws(() => Sample.encode({ name: '', parts: null }, 0), {
    name: 'EncodeError',
    kind: 'invalid-value',
    message: 'Sample v0: parts may not be null',
  })
  throws(() => Sample.encode({ name: '', parts: [{ index: 1, data: null }] }, 1), {
    message: 'Sample v1: parts.data may not be null',
  })
})

test('a nullable struct has a marker in front', () => {
  const full = { ...minimal, boss: { id: 4, rack: 'r' }, ids: [ZERO_UUID], labels: ['x', ''] }
  const decoded = Sample.decode(Sample.encode(full, 3), 3)
  deepStrictEqual(decoded.boss, { id: 4, rack: 'r' })
  deepStrictEqual(decoded.ids, [ZERO_UUID])
  deepStrictEqual(decoded.labels, ['x', ''])
  strictEqual(Sample.decode(Sample.encode(minimal, 3), 3).boss, null)
})

// Kafka's generator marks null with 0 inside a tagged field but with -1 elsewhere; found when Java encoded the same records.
test('a nullable struct in a tagged field has an unsigned marker', () => {
  const Tagged = message({
    name: 'Tagged',
    versions: '0',
    flexibleFrom: 0,
    fields: { owner: one(struct({ id: int32({ default: -1 }) }), { nullable: '0+', tag: 0 }) },
  })
  strictEqual(Tagged.encode({ owner: null }, 0).toString('hex'), '01000100')
  strictEqual(Tagged.encode({ owner: { id: 5 } }, 0).toString('hex'), '010006010000000500')
  strictEqual(Tagged.encode({}, 0).toString('hex'), '00')
  strictEqual(Tagged.decode(Buffer.from('01000100', 'hex'), 0).owner, null)
  deepStrictEqual(Tagged.decode(Buffer.from('00', 'hex'), 0).owner, { id: -1 })
})

test('a value that a version cannot carry is refused unless the field is ignorable', () => {
  throws(() => Sample.encode({ ...minimal, mode: 4 }, 0), {
    name: 'EncodeError',
    kind: 'unsupported-version',
    message: 'Sample v0: mode does not exist in this version',
  })
  throws(() => Sample.encode({ ...minimal, owner: { id: 1 } }, 1), { kind: 'unsupported-version' })
  strictEqual(hex({ ...minimal, mode: 3, owner: { rack: null } }, 0), hex(minimal, 0))
  strictEqual(hex({ ...minimal, hint: 9 }, 0), hex(minimal, 0))
})

test('tagged fields of unknown meaning are skipped', () => {
  const known = Sample.encode({ ...minimal, since: 5n }, 2).subarray(0, -11)
  const tags = Buffer.from('03' + '0008' + '0000000000000005' + '0703' + 'aabbcc' + '0800', 'hex')
  const decoded = Sample.decode(Buffer.concat([known, tags]), 2)
  strictEqual(decoded.since, 5n)
})

test('a known tagged field that does not fill its announced size is malformed', () => {
  const known = Sample.encode(minimal, 2).subarray(0, -1)
  const tags = Buffer.from('01' + '0009' + '000000000000000500', 'hex')
  throws(() => Sample.decode(Buffer.concat([known, tags]), 2), { name: 'DecodeError', kind: 'malformed' })
})

test('a missing required field and a number out of range are refused', () => {
  throws(() => Sample.encode({ parts: [] } as never, 0), { message: 'Sample v0: name is missing' })
  throws(() => Sample.encode({ ...minimal, mode: 128 }, 1), { kind: 'invalid-value', message: '128 is not an int8' })
  throws(() => Sample.encode({ ...minimal, mode: 1.5 }, 1), { kind: 'invalid-value' })
  throws(() => Sample.encode({ ...minimal, since: 2n ** 63n }, 2), { kind: 'invalid-value' })
  throws(() => Sample.encode({ ...minimal, ids: ['short' as never] }, 3), { kind: 'invalid-value' })
  throws(() => Sample.encode({ ...minimal, name: 'x'.repeat(32_768) }, 0), { kind: 'invalid-value' })
})

test('the input type lets optional fields out and demands the others', () => {
  // @ts-expect-error parts is required
  const withoutParts: Input<typeof Sample> = { name: 'n' }
  // @ts-expect-error since is a bigint
  const wrongType: Input<typeof Sample> = { name: 'n', parts: [], since: 5 }
  ok(withoutParts && wrongType)
})

const Carrier = message({
  name: 'Carrier',
  versions: '0',
  fields: { before: int32(), payload: records({ nullable: '0+' }), after: bool() },
})

test('large bytes are chunks of their own, by reference, small ones are copied', () => {
  const large = Buffer.alloc(4096, 1)
  const chunks = Carrier.encodeChunks({ before: 1, payload: large, after: true }, 0)
  strictEqual(chunks.length, 3)
  ok(chunks[1] === large)
  deepStrictEqual(Buffer.concat(chunks), Carrier.encode({ before: 1, payload: large, after: true }, 0))
  strictEqual(Carrier.encodeChunks({ before: 1, payload: Buffer.alloc(4095), after: true }, 0).length, 1)
})

test('decoded bytes are views of the input', () => {
  const input = Carrier.encode({ before: 1, payload: Buffer.from('abc'), after: true }, 0)
  const { payload } = Carrier.decode(input, 0)
  input.write('xyz', 8)
  strictEqual(payload?.toString(), 'xyz')
})

test('messages can follow one another in a writer and a reader', () => {
  const writer = new Writer()
  Carrier.write(writer, { before: 1, payload: null, after: true }, 0)
  Carrier.write(writer, { before: 2, payload: null, after: false }, 0)
  const reader = new Reader(writer.toBuffer())
  strictEqual(Carrier.read(reader, 0).before, 1)
  strictEqual(Carrier.read(reader, 0).before, 2)
  strictEqual(reader.remaining, 0)
})

test('an API knows the header versions of its messages', () => {
  const plain = api(Sample, Sample)
  deepStrictEqual([0, 1, 2, 3].map(plain.requestHeaderVersion), [1, 1, 2, 2])
  deepStrictEqual([0, 1, 2, 3].map(plain.responseHeaderVersion), [0, 0, 1, 1])
  deepStrictEqual([0, 3].map(api(Sample, Sample, { plainResponseHeader: true }).responseHeaderVersion), [0, 0])
})
