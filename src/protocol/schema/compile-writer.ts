/** Compiles a table into the encoding function of one version; called once per message and version by message(). */
import { EncodeError } from './codec-errors.ts'
import { checkedName, defaultText, isDefaultText, structTestBody } from './default-value.ts'
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
import { EMPTY_BYTES } from './reader.ts'
import type { Writer } from './writer.ts'

interface NamedField {
  readonly name: string
  /** For errors: `topics.partitions.partitionIndex`. */
  readonly path: string
  readonly field: AnyField
}

class WriterCompiler {
  readonly #shape: MessageShape
  readonly #functions: string[] = []
  readonly #names = new Map<Struct<unknown, unknown>, string>()
  readonly #tests = new Map<Struct<unknown, unknown>, string>()

  constructor(shape: MessageShape) {
    this.#shape = shape
  }

  source(): string {
    const entry = this.#structFunction({ fields: this.#shape.fields }, '')
    return `'use strict'\n${this.#functions.join('\n')}\nreturn ${entry}`
  }

  #structFunction(struct: Struct<unknown, unknown>, path: string): string {
    const known = this.#names.get(struct)
    if (known !== undefined) return known
    const functionName = `write${this.#names.size}`
    this.#names.set(struct, functionName)
    const fields = Object.entries(struct.fields).map(([name, field]) => ({
      name: checkedName(name),
      path: `${path}${name}`,
      field,
    }))
    const lines = fields.map((named, index) => this.#fieldLine(named, `f${index}`))
    if (this.#shape.flexible) lines.push(this.#taggedFields(fields))
    this.#functions.push(`function ${functionName}(w, v) {\n${lines.join('\n')}\n}`)
    return functionName
  }

  /** The name of the function that tells whether a struct has only defaults. */
  #structTest = (struct: Struct<unknown, unknown>): string => {
    const known = this.#tests.get(struct)
    if (known !== undefined) return known
    const name = `isDefault${this.#tests.size}`
    this.#tests.set(struct, name)
    this.#functions.push(`function ${name}(v) { ${structTestBody(struct.fields, this.#structTest)} }`)
    return name
  }

  #isDefault(field: AnyField, variable: string): string {
    return `(${variable} === undefined || ${isDefaultText(field, variable, this.#structTest)})`
  }

  #fieldLine({ name, path, field }: NamedField, variable: string): string {
    const load = `let ${variable} = v.${name}`
    if (!isPresent(this.#shape, field)) {
      if (field.options.ignorable) return ''
      return `${load}\nif (!${this.#isDefault(field, variable)}) throw notInVersion(${JSON.stringify(path)})`
    }
    if (isTagged(this.#shape, field)) return load
    const { default: fallback, versions, tag } = field.options
    const isOptional = fallback !== undefined || versions !== undefined || tag !== undefined
    const missing = isOptional ? `${variable} = ${defaultText(field)}` : `throw missing(${JSON.stringify(path)})`
    return `${load}\nif (${variable} === undefined) ${missing}\n${this.#write({ name, path, field }, variable)}`
  }

  #taggedFields(fields: readonly NamedField[]): string {
    const tagged = fields
      .map((named, index) => ({ named, variable: `f${index}`, tag: Number(named.field.options.tag) }))
      .filter(({ named }) => isPresent(this.#shape, named.field) && isTagged(this.#shape, named.field))
      .sort((a, b) => a.tag - b.tag)
    if (tagged.length === 0) return 'w.uvarint(0)'
    const tests = tagged.map(
      ({ named, variable }) => `const has_${variable} = !${this.#isDefault(named.field, variable)}`,
    )
    const total = tagged.map(({ variable }) => `(has_${variable} ? 1 : 0)`).join(' + ')
    const writes = tagged.map(
      ({ named, variable, tag }) =>
        `if (has_${variable}) { w.uvarint(${tag}); const parent = w; { const w = parent.child()
${this.#write(named, variable)}\nparent.sized(w) } }`,
    )
    return [...tests, `w.uvarint(${total})`, ...writes].join('\n')
  }

  /** A statement that writes the variable to `w`. The null marker of a struct is 0 in tagged fields, −1 elsewhere. */
  #write({ path, field }: NamedField, variable: string): string {
    const encoding = encodingOf(this.#shape, field)
    if (field.kind === 'array') return this.#writeArray({ name: '', path, field }, variable)
    if (field.kind === 'struct') {
      const call = `${this.#structFunction(structOf(field), `${path}.`)}(w, ${variable})`
      if (!encoding.nullable) return `${nullCheck(path, variable)}\n${call}`
      const absent = isTagged(this.#shape, field) ? 'w.uvarint(0)' : 'w.int8(-1)'
      return `if (${variable} === null) ${absent}\nelse { w.int8(1); ${call} }`
    }
    const call = `w.${scalarMethod(field.kind, encoding)}(${variable})`
    return encoding.nullable ? call : `${nullCheck(path, variable)}\n${call}`
  }

  #writeArray({ path, field }: NamedField, variable: string): string {
    const encoding = encodingOf(this.#shape, field)
    const count = countMethod({ nullable: false, compact: encoding.compact })
    const elements = `w.${count}(${variable}.length)
for (let i = 0; i < ${variable}.length; i++) ${this.#elementCall(elementOf(field), path, `${variable}[i]`)}`
    if (!encoding.nullable) return `${nullCheck(path, variable)}\n${elements}`
    return `if (${variable} === null) w.${count}(-1)\nelse { ${elements} }`
  }

  #elementCall(element: Struct<unknown, unknown> | ScalarKind, path: string, item: string): string {
    if (typeof element !== 'string') return `${this.#structFunction(element, `${path}.`)}(w, ${item})`
    return `w.${scalarMethod(element, { nullable: false, compact: this.#shape.flexible })}(${item})`
  }
}

const nullCheck = (path: string, variable: string): string =>
  `if (${variable} === null) throw isNull(${JSON.stringify(path)})`

/** The generated source is made of the names and numbers of our own tables (checkedName), never of values. */
export function compileWriter(shape: MessageShape): (writer: Writer, value: unknown) => void {
  const where = (path: string) => `${shape.name} v${shape.version}: ${path}`
  const make = new Function('EMPTY', 'notInVersion', 'missing', 'isNull', new WriterCompiler(shape).source())
  return make(
    EMPTY_BYTES,
    (path: string) => new EncodeError('unsupported-version', `${where(path)} does not exist in this version`),
    (path: string) => new EncodeError('invalid-value', `${where(path)} is missing`),
    (path: string) => new EncodeError('invalid-value', `${where(path)} may not be null`),
  )
}
