/** Compiles a table into the decoding function of one version; called once per message and version by message(). */
import { checkedName, defaultText } from './default-value.ts'
import type { AnyField, ScalarKind, Struct } from './field.ts'
import {
  countMethod,
  elementOf,
  encodingOf,
  isPresent,
  isTagged,
  type MessageShape,
  scalarMethod,
  structOf,
} from './message-shape.ts'
import { EMPTY_BYTES, type Reader } from './reader.ts'

const FIXED_BYTES: Readonly<Partial<Record<ScalarKind, number>>> = {
  bool: 1,
  int8: 1,
  int16: 2,
  uint16: 2,
  int32: 4,
  uint32: 4,
  int64: 8,
  float64: 8,
  uuid: 16,
}

/** The fewest bytes a scalar takes. */
function scalarBytesMin(kind: ScalarKind, compact: boolean): number {
  const lengthBytes = kind === 'string' ? 2 : 4
  return FIXED_BYTES[kind] ?? (compact ? 1 : lengthBytes)
}

class ReaderCompiler {
  readonly #shape: MessageShape
  readonly #functions: string[] = []
  readonly #names = new Map<Struct<unknown, unknown>, string>()

  constructor(shape: MessageShape) {
    this.#shape = shape
  }

  source(): string {
    const entry = this.#structFunction({ fields: this.#shape.fields })
    return `'use strict'\n${this.#functions.join('\n')}\nreturn ${entry}`
  }

  /** The name of the function that reads the struct; every struct has one, so that its objects have one shape. */
  #structFunction(struct: Struct<unknown, unknown>): string {
    const known = this.#names.get(struct)
    if (known !== undefined) return known
    const name = `read${this.#names.size}`
    this.#names.set(struct, name)
    const fields = Object.values(struct.fields)
    const lines = fields.map((field, index) => this.#declaration(field, `f${index}`))
    if (this.#shape.flexible) lines.push(this.#taggedFields(fields))
    const entries = Object.keys(struct.fields).map((fieldName, index) => `${checkedName(fieldName)}: f${index}`)
    lines.push(`return { ${entries.join(', ')} }`)
    this.#functions.push(`function ${name}(r) {\n${lines.join('\n')}\n}`)
    return name
  }

  #declaration(field: AnyField, variable: string): string {
    if (!isPresent(this.#shape, field) || isTagged(this.#shape, field)) return `let ${variable} = ${defaultText(field)}`
    return `let ${variable}\n${this.#assignment(field, variable)}`
  }

  #taggedFields(fields: readonly AnyField[]): string {
    const cases = fields.flatMap((field, index) => {
      if (!isPresent(this.#shape, field) || !isTagged(this.#shape, field)) return []
      return [`case ${Number(field.options.tag)}: {\n${this.#assignment(field, `f${index}`)}\nr.expectAt(end)\nbreak }`]
    })
    if (cases.length === 0) return 'r.skipTaggedFields()'
    return `for (let left = r.uvarint(); left > 0; left--) {
const tag = r.uvarint(), end = r.taggedEnd()
switch (tag) {\n${cases.join('\n')}\ndefault: r.skipTo(end) }\n}`
  }

  /** A statement that reads the field into the variable. */
  #assignment(field: AnyField, variable: string): string {
    const encoding = encodingOf(this.#shape, field)
    if (field.kind === 'array') return this.#arrayAssignment(field, variable)
    if (field.kind !== 'struct') return `${variable} = r.${scalarMethod(field.kind, encoding)}()`
    const call = `${this.#structFunction(structOf(field))}(r)`
    const marker = isTagged(this.#shape, field) ? 'r.uvarint() > 0' : 'r.int8() >= 0'
    return `${variable} = ${encoding.nullable ? `${marker} ? ${call} : null` : call}`
  }

  #arrayAssignment(field: AnyField, variable: string): string {
    const encoding = encodingOf(this.#shape, field)
    const element = elementOf(field)
    const call =
      typeof element === 'string'
        ? `r.${scalarMethod(element, { nullable: false, compact: this.#shape.flexible })}()`
        : `${this.#structFunction(element)}(r)`
    const fill = `${variable} = []\nfor (let i = 0; i < n; i++) ${variable}.push(${call})`
    return `{ const n = r.${countMethod(encoding)}(${this.#elementBytesMin(element)})
${encoding.nullable ? `if (n < 0) ${variable} = null\nelse { ${fill} }` : fill} }`
  }

  #elementBytesMin(element: Struct<unknown, unknown> | ScalarKind): number {
    if (typeof element === 'string') return scalarBytesMin(element, this.#shape.flexible)
    return Math.max(1, this.#structBytesMin(element))
  }

  #structBytesMin(struct: Struct<unknown, unknown>): number {
    let total = this.#shape.flexible ? 1 : 0
    for (const field of Object.values(struct.fields)) {
      if (isPresent(this.#shape, field) && !isTagged(this.#shape, field)) total += this.#fieldBytesMin(field)
    }
    return total
  }

  #fieldBytesMin(field: AnyField): number {
    const { nullable, compact } = encodingOf(this.#shape, field)
    if (field.kind === 'struct') return nullable ? 1 : this.#structBytesMin(structOf(field))
    if (field.kind === 'array') return compact ? 1 : 4
    return scalarBytesMin(field.kind, compact)
  }
}

/** The generated source is made of the names and numbers of our own tables (checkedName), never of input. */
export function compileReader(shape: MessageShape): (reader: Reader) => unknown {
  const make = new Function('EMPTY', new ReaderCompiler(shape).source())
  return make(EMPTY_BYTES)
}
