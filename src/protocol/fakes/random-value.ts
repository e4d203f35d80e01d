/** Random values for any table and version, as decoding would give them back; for round-trip tests here and against Java. */
import type { Random } from '../../core/random.ts'
import { uuidFromBytes, ZERO_UUID } from '../../core/uuid.ts'
import type { AnyField, Fields, ScalarKind, Struct } from '../schema/field.ts'
import { elementOf, encodingOf, isPresent, type MessageShape, structOf } from '../schema/message-shape.ts'

const ARRAY_ELEMENTS_MAX = 3
const TEXTS = ['', 'a', 'orders', 'größe', '日本', '😀', 'x'.repeat(127), 'y'.repeat(300)]
const INT_BITS: Readonly<Partial<Record<ScalarKind, number>>> = { int8: 8, int16: 16, int32: 32 }
const UINT_BITS: Readonly<Partial<Record<ScalarKind, number>>> = { uint16: 16, uint32: 32 }

const below = (random: Random, bound: number): number => Math.floor(random() * bound)
const pick = <T>(random: Random, values: readonly T[]): T => values[below(random, values.length)] as T

/** A random value of the shape; fields that the version lacks have their default. */
export function randomValue(random: Random, shape: MessageShape): Record<string, unknown> {
  return randomStruct(random, shape, shape.fields)
}

function randomStruct(random: Random, shape: MessageShape, fields: Fields): Record<string, unknown> {
  const entries = Object.entries(fields).map(([name, field]) => [name, randomField(random, shape, field)])
  return Object.fromEntries(entries)
}

function randomField(random: Random, shape: MessageShape, field: AnyField): unknown {
  if (!isPresent(shape, field)) return defaultValue(field)
  if (field.options.default !== undefined || field.options.tag !== undefined) {
    const isAllowed = field.options.default !== null || encodingOf(shape, field).nullable
    if (isAllowed && random() < 0.3) return defaultValue(field)
  }
  if (encodingOf(shape, field).nullable && random() < 0.2) return null
  if (field.kind === 'struct') return randomStruct(random, shape, structOf(field).fields)
  if (field.kind !== 'array') return randomScalar(random, field.kind)
  const element = elementOf(field)
  return Array.from({ length: below(random, ARRAY_ELEMENTS_MAX + 1) }, () => randomElement(random, shape, element))
}

function randomElement(random: Random, shape: MessageShape, element: Struct<unknown, unknown> | ScalarKind): unknown {
  return typeof element === 'string' ? randomScalar(random, element) : randomStruct(random, shape, element.fields)
}

function randomScalar(random: Random, kind: ScalarKind): unknown {
  const bits = INT_BITS[kind]
  if (bits !== undefined) return Number(BigInt.asIntN(bits, randomBits(random)))
  const unsignedBits = UINT_BITS[kind]
  if (unsignedBits !== undefined) return Number(BigInt.asUintN(unsignedBits, randomBits(random)))
  if (kind === 'int64') return BigInt.asIntN(64, randomBits(random))
  if (kind === 'bool') return random() < 0.5
  // Never whole, so that it stays a floating-point number in JSON.
  if (kind === 'float64') return below(random, 2 ** 31) - 2 ** 30 + 0.5
  if (kind === 'string') return pick(random, TEXTS)
  if (kind === 'uuid') return random() < 0.2 ? ZERO_UUID : uuidFromBytes(randomBytes(random, 16))
  return randomBytes(random, below(random, 40))
}

/** Mostly of small magnitude, sometimes the extremes. */
function randomBits(random: Random): bigint {
  const value = BigInt(below(random, 2 ** 32)) * 2n ** 32n + BigInt(below(random, 2 ** 32))
  if (random() < 0.1) return pick(random, [0n, -1n, 0x7fn, -0x80n, 0x7fffn, 0x7fffffffn, -0x80000000n, 2n ** 63n - 1n])
  return value >> BigInt(below(random, 64))
}

const randomBytes = (random: Random, size: number): Buffer =>
  Buffer.from(Array.from({ length: size }, () => below(random, 256)))

const ZEROS: Readonly<Record<ScalarKind, unknown>> = {
  bool: false,
  int8: 0,
  int16: 0,
  uint16: 0,
  int32: 0,
  uint32: 0,
  int64: 0n,
  float64: 0,
  uuid: ZERO_UUID,
  string: '',
  bytes: Buffer.alloc(0),
  records: Buffer.alloc(0),
}

function defaultValue(field: AnyField): unknown {
  if (field.options.default !== undefined) return field.options.default
  if (field.kind === 'array') return []
  if (field.kind !== 'struct') return ZEROS[field.kind]
  const entries = Object.entries(structOf(field).fields).map(([name, inner]) => [name, defaultValue(inner)])
  return Object.fromEntries(entries)
}
