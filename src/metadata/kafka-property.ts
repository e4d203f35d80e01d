/** The form in which the config tables of this folder state one property of Kafka (type, default, bounds), and its config row. */
import {
  booleanRow,
  type ConfigRow,
  ConfigValueError,
  doubleRow,
  intRow,
  listRow,
  stringRow,
} from '../core/config-rows.ts'

export type KafkaPropertyType =
  | 'boolean'
  | 'string'
  | 'int'
  | 'short'
  | 'long'
  | 'double'
  | 'list'
  | 'class'
  | 'password'

export interface KafkaProperty {
  readonly type: KafkaPropertyType
  /** As text; absent = not set, or required. */
  readonly default?: string
  readonly min?: number
  readonly max?: number
  /** One more allowed value outside [min, max]. */
  readonly also?: number
  /** The only allowed values (of each item, for a list); case matters unless `anyCase`. */
  readonly values?: readonly string[]
  readonly anyCase?: true
  /** Form of each item of a list, with words for the person who got it wrong. */
  readonly itemForm?: { readonly pattern: RegExp; readonly words: string }
  /** A server property that can be altered at run time: per broker only, or for the whole cluster too. */
  readonly dynamic?: 'broker' | 'cluster'
  /** Exists only as a dynamic config, not in a file. */
  readonly dynamicOnly?: true
  /** Undocumented in Kafka; hidden from listings while not set. */
  readonly internal?: true
}

export type ConfigValue = boolean | number | string | readonly string[]

/** Config types of DescribeConfigs answers. */
export const configTypeOnWire: Readonly<Record<KafkaPropertyType, number>> = {
  boolean: 1,
  string: 2,
  int: 3,
  short: 4,
  long: 5,
  double: 6,
  list: 7,
  class: 8,
  password: 9,
}

/** The config row that parses and formats values of the property. */
export function propertyRow(property: KafkaProperty, doc: string): ConfigRow<ConfigValue> {
  const row = rowWithoutDefault(property, doc)
  return property.default === undefined ? row : { ...row, default: row.parse(property.default) }
}

function rowWithoutDefault(property: KafkaProperty, doc: string): ConfigRow<ConfigValue> {
  const { min, max, values } = property
  const bounds = { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) }
  switch (property.type) {
    case 'boolean':
      return widen(booleanRow({ doc }))
    case 'short':
      return numberRow(property, intRow({ doc, max: 32767, min: -32768, ...bounds }))
    case 'int':
      return numberRow(property, intRow({ doc, ...bounds }))
    case 'long':
      return numberRow(property, intRow({ doc, long: true, ...bounds }))
    case 'double':
      return widen(doubleRow({ doc, min: min ?? -Number.MAX_VALUE, max: max ?? Number.MAX_VALUE }))
    case 'list':
      return widen(listRow({ doc, check: items => itemsProblem(property, items) }))
    default:
      return widen(
        stringRow({
          doc,
          check: text => oneOf(values, property.anyCase ? text.toUpperCase() : text),
          sensitive: property.type === 'password',
        }),
      )
  }
}

/** Rows read by key give values of any config type. */
function widen<T extends ConfigValue>(row: ConfigRow<T>): ConfigRow<ConfigValue> {
  return { ...row, format: value => row.format(value as T) }
}

function numberRow(property: KafkaProperty, row: ConfigRow<number>): ConfigRow<ConfigValue> {
  const { also } = property
  if (also === undefined) return widen(row)
  const parse = (text: string): number => {
    if (Number(text.trim() || Number.NaN) === also) return also
    try {
      return row.parse(text)
    } catch (error) {
      throw error instanceof ConfigValueError ? new ConfigValueError(`${error.message} (or ${also})`) : error
    }
  }
  return widen({ ...row, parse })
}

const oneOf = (values: readonly string[] | undefined, text: string): string | undefined =>
  values === undefined || values.includes(text) ? undefined : `must be one of ${values.join(', ')}, not "${text}"`

function itemsProblem({ values, itemForm }: KafkaProperty, items: readonly string[]): string | undefined {
  const malformed = itemForm && items.find(item => !itemForm.pattern.test(item))
  if (malformed !== undefined) return `must be ${itemForm?.words}, not "${malformed}"`
  return items.map(item => oneOf(values, item)).find(problem => problem)
}

/** Refuses a text as Kafka words it. Returns the problem, or undefined if the value is fine. */
export function valueProblem(name: string, row: ConfigRow<ConfigValue>, text: string): string | undefined {
  try {
    row.parse(text)
    return undefined
  } catch (error) {
    if (!(error instanceof ConfigValueError)) throw error
    const shown = row.sensitive ? '[hidden]' : text
    return `Invalid value ${shown} for configuration ${name}: ${row.sensitive ? 'not accepted' : error.message}`
  }
}
