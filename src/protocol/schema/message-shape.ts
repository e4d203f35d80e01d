/** One version of a table, and which method of Reader and Writer handles a field in it; shared by the two code generators of `schema/`. */
import type { AnyField, ScalarKind, Struct } from './field.ts'
import { includesVersion } from './version-range.ts'

/** One version of a table. */
export interface MessageShape {
  readonly name: string
  readonly fields: Readonly<Record<string, AnyField>>
  readonly version: number
  readonly flexible: boolean
}

/** How a field is encoded in a version. */
export interface Encoding {
  readonly nullable: boolean
  readonly compact: boolean
}

const join = (prefixes: Encoding, base: string): string => {
  const name = `${prefixes.compact ? 'Compact' : ''}${prefixes.nullable ? 'Nullable' : ''}${base}`
  return name.charAt(0).toLowerCase() + name.slice(1)
}

/** The method for a scalar, the same on Reader and Writer: `int32`, `compactNullableString`. */
export function scalarMethod(kind: ScalarKind, encoding: Encoding): string {
  if (kind === 'string') return join(encoding, 'String')
  if (kind === 'bytes' || kind === 'records') return join(encoding, 'Bytes')
  return kind
}

/** The method for the count of an array. */
export const countMethod = (encoding: Encoding): string => join(encoding, 'Count')

/** Is the field part of this version? */
export const isPresent = (shape: MessageShape, field: AnyField): boolean =>
  includesVersion(field.options.versions, shape.version)

/** Is it in the section of tagged fields of this version? */
export const isTagged = (shape: MessageShape, field: AnyField): boolean =>
  shape.flexible && field.options.tag !== undefined

/** How it is encoded in this version. */
export const encodingOf = (shape: MessageShape, field: AnyField): Encoding => ({
  nullable: field.options.nullable !== undefined && includesVersion(field.options.nullable, shape.version),
  compact: shape.flexible && field.options.compact !== false,
})

/** The struct of a struct field. */
export function structOf(field: AnyField): Struct<unknown, unknown> {
  if (!field.struct) throw new RangeError('a struct field without a struct')
  return field.struct
}

/** The element type of an array field. */
export function elementOf(field: AnyField): Struct<unknown, unknown> | ScalarKind {
  if (field.element === undefined) throw new RangeError('an array field without an element')
  return field.element
}
