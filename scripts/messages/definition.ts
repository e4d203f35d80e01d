/** Kafka's JSON message definitions, reduced to facts (names, types, versions, tags, defaults); read by the message generator. */
import { parseVersions, type VersionRange } from '../../src/protocol/schema/version-range.ts'

interface JsonField {
  readonly name: string
  readonly type: string
  readonly versions?: string
  readonly nullableVersions?: string
  readonly taggedVersions?: string
  readonly flexibleVersions?: string
  readonly tag?: number
  readonly default?: string | number | boolean | null
  readonly ignorable?: boolean
  readonly fields?: readonly JsonField[]
}

interface JsonMessage {
  readonly name: string
  readonly type: string
  readonly apiKey?: number
  readonly validVersions: string
  readonly flexibleVersions?: string
  readonly latestVersionUnstable?: boolean
  readonly fields?: readonly JsonField[]
  readonly commonStructs?: readonly { readonly name: string; readonly fields: readonly JsonField[] }[]
}

/** A field with its versions already cut to those of the struct around it. */
export interface FieldDefinition {
  readonly name: string
  /** Scalar type or struct name. */
  readonly type: string
  readonly isArray: boolean
  readonly isStruct: boolean
  readonly versions: string | undefined
  readonly nullable: string | undefined
  readonly tag: number | undefined
  /** Source text of the default. */
  readonly default: string | undefined
  readonly ignorable: boolean
  readonly compact: boolean
}

export interface StructDefinition {
  readonly name: string
  readonly fields: readonly FieldDefinition[]
}

export interface MessageDefinition {
  readonly name: string
  /** `request`, `response`, `header`, `metadata`, `coordinator-key`, `coordinator-value`, `data`. */
  readonly type: string
  readonly apiKey: number | undefined
  readonly versions: string
  readonly flexibleFrom: number | undefined
  readonly latestVersionUnstable: boolean
  readonly fields: readonly FieldDefinition[]
  /** Inner structs come before those that use them. */
  readonly structs: readonly StructDefinition[]
}

const SCALARS = new Set('bool int8 int16 uint16 int32 uint32 int64 float64 uuid string bytes records'.split(' '))

const intersect = (a: VersionRange, b: VersionRange): VersionRange => ({
  min: Math.max(a.min, b.min),
  max: Math.min(a.max, b.max),
})
const isEmpty = (range: VersionRange): boolean => range.min > range.max
const isSame = (a: VersionRange, b: VersionRange): boolean => a.min === b.min && a.max === b.max

/** `N`, `N-M` or `N+`, open if the range ends where the outer one ends. */
function rangeText(range: VersionRange, outer: VersionRange): string {
  if (range.max === outer.max) return `${range.min}+`
  return range.min === range.max ? String(range.min) : `${range.min}-${range.max}`
}

const parseOrNone = (text: string | undefined): VersionRange | undefined =>
  text === undefined || text === 'none' ? undefined : parseVersions(text)

class DefinitionReader {
  readonly #json: JsonMessage
  readonly #valid: VersionRange
  readonly #flexibleFrom: number
  readonly #structs: StructDefinition[] = []
  readonly #seen = new Set<string>()

  constructor(json: JsonMessage) {
    this.#json = json
    this.#valid = parseVersions(json.validVersions)
    this.#flexibleFrom = parseOrNone(json.flexibleVersions)?.min ?? Number.POSITIVE_INFINITY
  }

  definition(): MessageDefinition {
    const json = this.#json
    const fields = this.#fields(json.fields ?? [], this.#valid)
    return {
      name: json.name,
      type: json.type,
      apiKey: json.apiKey,
      versions: json.validVersions,
      flexibleFrom: Number.isFinite(this.#flexibleFrom) ? this.#flexibleFrom : undefined,
      latestVersionUnstable: json.latestVersionUnstable ?? false,
      fields,
      structs: this.#structs,
    }
  }

  #fields(fields: readonly JsonField[], outer: VersionRange): FieldDefinition[] {
    return fields.flatMap(field => {
      const range = intersect(parseVersions(field.versions ?? field.taggedVersions ?? `${outer.min}+`), outer)
      return isEmpty(range) ? [] : [this.#field(field, range, outer)]
    })
  }

  #field(field: JsonField, range: VersionRange, outer: VersionRange): FieldDefinition {
    const isArray = field.type.startsWith('[]')
    const type = field.type.replace('[]', '')
    const isStruct = !SCALARS.has(type)
    if (isStruct) this.#struct(type, field, range)
    this.#checkTag(field, range)
    const nullable = parseOrNone(field.nullableVersions)
    const nullableRange = nullable && intersect(nullable, range)
    const definition = {
      name: field.name.charAt(0).toLowerCase() + field.name.slice(1),
      type,
      isArray,
      isStruct,
      versions: isSame(range, outer) ? undefined : rangeText(range, outer),
      nullable: nullableRange && !isEmpty(nullableRange) ? rangeText(nullableRange, range) : undefined,
      tag: field.tag,
      ignorable: field.ignorable === true,
      compact: field.flexibleVersions !== 'none',
    }
    return { ...definition, default: defaultText(field, type, isArray || isStruct) }
  }

  /** The tables say "tagged in every flexible version"; a definition that says something else must not be misread. */
  #checkTag(field: JsonField, range: VersionRange): void {
    const tagged = parseOrNone(field.taggedVersions)
    if (!tagged) return
    const flexible = { min: this.#flexibleFrom, max: Number.POSITIVE_INFINITY }
    if (isSame(intersect(tagged, range), intersect(flexible, range))) return
    throw new Error(`${this.#json.name}.${field.name}: tagged versions differ from flexible ones`)
  }

  #struct(name: string, field: JsonField, range: VersionRange): void {
    if (this.#seen.has(name)) return
    this.#seen.add(name)
    const shared = this.#json.commonStructs?.find(struct => struct.name === name)
    const fields = shared ? this.#fields(shared.fields, this.#valid) : this.#fields(field.fields ?? [], range)
    this.#structs.push({ name, fields })
  }
}

function defaultText(field: JsonField, type: string, isComposed: boolean): string | undefined {
  const value = field.default
  // Kafka's own generator takes a JSON null for "no default"; only the text 'null' makes null the default.
  if (value === undefined || value === null) return undefined
  if (value === 'null' && (isComposed || field.nullableVersions !== undefined)) return 'null'
  if (isComposed) throw new Error(`${field.name}: default ${value} of an array or struct`)
  if (type === 'string') return `'${value}'`
  if (type === 'bool') return String(value)
  if (type === 'int64') return `${BigInt(value)}n`
  return String(Number(value))
}

/** Parses one definition; undefined for a message that has no version left. */
export function parseDefinition(text: string): MessageDefinition | undefined {
  const plain = text.replace(/^\s*\/\/.*$/gm, '').replace(/\s\/\/[^"\n]*$/gm, '')
  const json = JSON.parse(plain) as JsonMessage
  return json.validVersions === 'none' ? undefined : new DefinitionReader(json).definition()
}
