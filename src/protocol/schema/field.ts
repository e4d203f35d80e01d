/** The vocabulary of message tables: field constructors and the types inferred from them; used by every generated message file. */
import type { Uuid } from '../../core/uuid.ts'

/** Kafka's scalar types. `records` is bytes whose content belongs to `batches/`. */
export type ScalarKind =
  | 'bool'
  | 'int8'
  | 'int16'
  | 'uint16'
  | 'int32'
  | 'uint32'
  | 'int64'
  | 'float64'
  | 'uuid'
  | 'string'
  | 'bytes'
  | 'records'

/** What a table may say about a field besides its type. Version texts: `4`, `0-13`, `7+`. */
export interface FieldOptions<T> {
  /** Versions that carry the field; omitted = all versions of the struct around it. */
  readonly versions?: string
  /** Versions in which it may be null. */
  readonly nullable?: string
  /** Its value where it is absent; omitted = zero, empty, false. */
  readonly default?: T | null
  /** Tagged fields are written only if they differ from the default. */
  readonly tag?: number
  /** An ignorable field is dropped silently when written in a version without it; any other must have its default there. */
  readonly ignorable?: true
  /** false = keeps the old length encoding even in flexible versions. */
  readonly compact?: false
}

declare const inferred: unique symbol

/** One field of a table. `T` is what decoding gives, `I` what encoding takes, `Optional` whether encoding may go without. */
export interface Field<T, I, Optional extends boolean> {
  readonly kind: ScalarKind | 'struct' | 'array'
  readonly options: FieldOptions<unknown>
  /** Fields of the struct. */
  readonly struct?: Struct<unknown, unknown>
  /** Type of the array's elements: a struct or a scalar field. */
  readonly element?: Struct<unknown, unknown> | ScalarKind
  readonly [inferred]?: { value: T; input: I; optional: Optional }
}

export type AnyField = Field<unknown, unknown, boolean>
export type Fields = Readonly<Record<string, AnyField>>

/** A named group of fields, used by fields of kind struct and array. */
export interface Struct<T, I> {
  readonly fields: Fields
  readonly [inferred]?: { value: T; input: I }
}

type IsOptional<O> = O extends { readonly default: unknown } | { readonly versions: string } | { readonly tag: number }
  ? true
  : false
type OrNull<O, T> = O extends { readonly nullable: string } ? T | null : T
type None = Record<never, never>
type Flatten<T> = { [K in keyof T]: T[K] }

type ValueOfField<F> = F extends Field<infer T, infer _I, infer _O> ? T : never
type InputOfField<F> = F extends Field<infer _T, infer I, infer _O> ? I : never
type OptionalNames<F> = { [K in keyof F]: F[K] extends Field<infer _T, infer _I, true> ? K : never }[keyof F]

/** Decoded form of a set of fields: everything present, defaults filled in. */
export type ValueOf<F extends Fields> = { -readonly [K in keyof F]: ValueOfField<F[K]> }
/** Form to encode: fields that have a default, a tag or are missing from some version may be left out. */
export type InputOf<F extends Fields> = Flatten<
  { readonly [K in Exclude<keyof F, OptionalNames<F>>]: InputOfField<F[K]> } & {
    readonly [K in OptionalNames<F>]?: InputOfField<F[K]> | undefined
  }
>

const scalar =
  <T>(kind: ScalarKind) =>
  <const O extends FieldOptions<T> = None>(options?: O): Field<OrNull<O, T>, OrNull<O, T>, IsOptional<O>> => ({
    kind,
    options: options ?? {},
  })

export const bool = scalar<boolean>('bool')
export const int8 = scalar<number>('int8')
export const int16 = scalar<number>('int16')
export const uint16 = scalar<number>('uint16')
export const int32 = scalar<number>('int32')
export const uint32 = scalar<number>('uint32')
export const int64 = scalar<bigint>('int64')
export const float64 = scalar<number>('float64')
export const uuid = scalar<Uuid>('uuid')
export const string = scalar<string>('string')
export const bytes = scalar<Buffer>('bytes')
export const records = scalar<Buffer>('records')

/** Declares a struct; field order is wire order. */
export const struct = <const F extends Fields>(fields: F): Struct<ValueOf<F>, InputOf<F>> => ({ fields })

/** A field that holds one struct. */
export const one = <T, I, const O extends FieldOptions<null> = None>(
  of: Struct<T, I>,
  options?: O,
): Field<OrNull<O, T>, OrNull<O, I>, IsOptional<O>> => ({ kind: 'struct', struct: of, options: options ?? {} })

/** A field that holds an array of structs. Its default is the empty array, or null where the options say so. */
export const array = <T, I, const O extends FieldOptions<null> = None>(
  of: Struct<T, I>,
  options?: O,
): Field<OrNull<O, T[]>, OrNull<O, readonly I[]>, IsOptional<O>> => ({
  kind: 'array',
  element: of,
  options: options ?? {},
})

/** A field that holds an array of scalars: `list(int32, { versions: '7+' })`. */
export const list = <T, const O extends FieldOptions<null> = None>(
  of: () => Field<T, T, false>,
  options?: O,
): Field<OrNull<O, T[]>, OrNull<O, readonly T[]>, IsOptional<O>> => ({
  kind: 'array',
  element: of().kind as ScalarKind,
  options: options ?? {},
})
