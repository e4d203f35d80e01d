/** Source text of field defaults and of the test "is it the default?"; used by both code generators of `schema/`. */
import { ZERO_UUID } from '../../core/uuid.ts'
import type { AnyField, Fields, ScalarKind, Struct } from './field.ts'

const ZERO_TEXT: Readonly<Record<ScalarKind, string>> = {
  bool: 'false',
  int8: '0',
  int16: '0',
  uint16: '0',
  int32: '0',
  uint32: '0',
  int64: '0n',
  float64: '0',
  uuid: JSON.stringify(ZERO_UUID),
  string: '""',
  bytes: 'EMPTY',
  records: 'EMPTY',
}

/** Field names become identifiers and property names of generated code, so nothing else may be in them. */
export function checkedName(name: string): string {
  if (!/^[a-zA-Z][a-zA-Z0-9]*$/.test(name)) throw new RangeError(`"${name}" is not a field name`)
  return name
}

/** An expression that evaluates to a fresh default value of the field. EMPTY must be in scope. */
export function defaultText(field: AnyField): string {
  const value = field.options.default
  if (value === null) return 'null'
  if (field.kind === 'array') return '[]'
  if (field.kind === 'struct') return structDefaultText(field.struct)
  if (value === undefined) return ZERO_TEXT[field.kind]
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value)
  throw new RangeError(`a default of type ${typeof value} is not supported`)
}

function structDefaultText(struct: Struct<unknown, unknown> | undefined): string {
  const entries = Object.entries(struct?.fields ?? {})
  return `{ ${entries.map(([name, field]) => `${checkedName(name)}: ${defaultText(field)}`).join(', ')} }`
}

/** A boolean expression: does the expression `x` hold the field's default? `structTest` names the test function of a struct. */
export function isDefaultText(
  field: AnyField,
  x: string,
  structTest: (struct: Struct<unknown, unknown>) => string,
): string {
  if (field.options.default === null) return `${x} === null`
  if (field.kind === 'array' || field.kind === 'bytes' || field.kind === 'records') {
    return `(${x} !== null && ${x}.length === 0)`
  }
  if (field.kind !== 'struct') return `${x} === ${defaultText(field)}`
  if (!field.struct) throw new RangeError('a struct field without a struct')
  return `(${x} !== null && ${structTest(field.struct)}(${x}))`
}

/** Body of the function that tells whether every field of a struct `v` is missing or has its default. */
export function structTestBody(fields: Fields, structTest: (struct: Struct<unknown, unknown>) => string): string {
  const tests = Object.entries(fields).map(([name, field]) => {
    const x = `v.${checkedName(name)}`
    return `(${x} === undefined || ${isDefaultText(field, x, structTest)})`
  })
  return `return ${tests.join(' && ') || 'true'}`
}
