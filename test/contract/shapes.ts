/**
 * Words in which the contract of REST is written, as JSON schemas: fields that are named must be there with their type, others may
 * come. Written by hand from the contract, not from the product's schemas: a fault in those must not hide itself.
 */

/** A JSON schema. */
export type Shape = Readonly<Record<string, unknown>>
type Fields = Readonly<Record<string, Shape>>

export const text: Shape = { type: 'string' }
export const filled: Shape = { type: 'string', minLength: 1 }
export const whole: Shape = { type: 'integer' }
export const flag: Shape = { type: 'boolean' }
export const nothing: Shape = { type: 'null' }
export const orNull = (shape: Shape): Shape => ({ anyOf: [shape, nothing] })
export const oneOf = (...values: readonly string[]): Shape => ({ enum: values })
export const many = (shape: Shape): Shape => ({ type: 'array', items: shape })

/** All fields are required but the `optional` ones. */
export const fields = (required: Fields, optional: Fields = {}): Shape => ({
  type: 'object',
  required: Object.keys(required),
  properties: { ...required, ...optional },
})

export const related = fields({ related: { type: 'string', pattern: '^https?://' } })
const address: Shape = { type: 'string', pattern: '^https?://[^/]+/kafka/v3/' }

/** `{kind, metadata: {self, resource_name}, ...}` */
export const item = (kind: string, required: Fields, optional: Fields = {}): Shape =>
  fields(
    { kind: { const: kind }, metadata: fields({ self: address, resource_name: orNull(text) }), ...required },
    optional,
  )

/** `{kind: ...List, metadata: {self, next}, data: [...]}` */
export const listOf = (kind: string, of: Shape): Shape =>
  fields({ kind: { const: kind }, metadata: fields({ self: address, next: nothing }), data: many(of) })

/** A body of an error, with that code. */
export const errorWith = (code: number, message?: string): Shape =>
  fields(
    { error_code: { const: code }, message: message === undefined ? text : { type: 'string', pattern: message } },
    { hint: text },
  )
