/** Prints message definitions as TypeScript tables, formatted as Biome would; used by the message generator. */
import type { FieldDefinition, MessageDefinition, StructDefinition } from './definition.ts'

const COLUMNS_MAX = 120

/** `head(`, entries, `)`: on one line if it fits, else one entry per line. */
function call(head: string, entries: readonly string[], close: string): string {
  if (entries.length === 0) return `${head.replace(/, $/, '')}${close}`
  const line = `${head}{ ${entries.join(', ')} }${close}`
  if (line.length <= COLUMNS_MAX) return line
  return `${head}{\n${entries.map(entry => `    ${entry},\n`).join('')}  }${close}`
}

function fieldLine(field: FieldDefinition, structName: (name: string) => string): string {
  const options: string[] = []
  if (field.versions !== undefined) options.push(`versions: '${field.versions}'`)
  if (field.nullable !== undefined) options.push(`nullable: '${field.nullable}'`)
  if (field.default !== undefined) options.push(`default: ${field.default}`)
  if (field.tag !== undefined) options.push(`tag: ${field.tag}`)
  if (field.ignorable) options.push('ignorable: true')
  if (!field.compact) options.push('compact: false')
  return call(`  ${field.name}: ${constructorHead(field, structName)}`, options, '),')
}

function constructorHead(field: FieldDefinition, structName: (name: string) => string): string {
  if (field.isStruct) return `${field.isArray ? 'array' : 'one'}(${structName(field.type)}, `
  return field.isArray ? `list(${field.type}, ` : `${field.type}(`
}

function structText(struct: StructDefinition, structName: (name: string) => string): string {
  const fields = struct.fields.map(field => fieldLine(field, structName))
  return `const ${structName(struct.name)} = struct({\n${fields.join('\n')}\n})\n`
}

function versionsDoc(definition: MessageDefinition): string {
  const flexible = definition.flexibleFrom === undefined ? '' : `, flexible from ${definition.flexibleFrom}`
  return `/** Versions ${definition.versions}${flexible}. */`
}

function messageText(definition: MessageDefinition, structName: (name: string) => string): string {
  const { name, apiKey, flexibleFrom } = definition
  const fields = definition.fields.map(field => `  ${fieldLine(field, structName).replaceAll('\n', '\n  ')}`)
  const lines = [
    `  name: '${name}',`,
    ...(apiKey === undefined ? [] : [`  apiKey: ${apiKey},`]),
    `  versions: '${definition.versions}',`,
    ...(flexibleFrom === undefined ? [] : [`  flexibleFrom: ${flexibleFrom},`]),
    ...(definition.latestVersionUnstable ? ['  latestVersionUnstable: true,'] : []),
    fields.length === 0 ? '  fields: {},' : `  fields: {\n${fields.join('\n')}\n  },`,
  ]
  return `${versionsDoc(definition)}
export const ${name} = message({\n${lines.join('\n')}\n})
export type ${name} = Infer<typeof ${name}>
export type ${name}Input = Input<typeof ${name}>
`
}

/** Struct names are unique per message; where two messages of a file share one, the message kind is put in front. */
function structNames(definitions: readonly MessageDefinition[]): (message: MessageDefinition, name: string) => string {
  const uses = new Map<string, number>()
  for (const { structs } of definitions) for (const { name } of structs) uses.set(name, (uses.get(name) ?? 0) + 1)
  const messages = new Set(definitions.map(({ name }) => name))
  return (message, name) => {
    if (uses.get(name) === 1 && !messages.has(name)) return name
    return `${message.type === 'coordinator-key' ? 'Key' : message.type.charAt(0).toUpperCase() + message.type.slice(1)}${name}`
  }
}

/** A constant array, broken like Biome breaks it. */
export function arrayText(head: string, entries: readonly string[]): string {
  const line = `${head}[${entries.join(', ')}] as const`
  return line.length <= COLUMNS_MAX ? line : `${head}[\n${entries.map(entry => `  ${entry},\n`).join('')}] as const`
}

/** A function call, broken like Biome breaks it. */
export function callText(head: string, args: readonly string[]): string {
  const line = `${head}(${args.join(', ')})`
  return line.length <= COLUMNS_MAX ? line : `${head}(\n${args.map(arg => `  ${arg},\n`).join('')})`
}

/** An import, broken like Biome breaks it. */
export function importLine(names: readonly string[], from: string): string {
  const line = `import { ${names.join(', ')} } from '${from}'`
  if (line.length <= COLUMNS_MAX) return line
  return `import {\n${names.map(name => `  ${name},\n`).join('')}} from '${from}'`
}

function fieldImports(definitions: readonly MessageDefinition[]): string[] {
  const names = new Set<string>()
  const note = (fields: readonly FieldDefinition[]): void => {
    for (const field of fields) {
      if (!field.isStruct) names.add(field.type)
      if (field.isArray) names.add(field.isStruct ? 'array' : 'list')
      else if (field.isStruct) names.add('one')
    }
  }
  for (const definition of definitions) {
    note(definition.fields)
    for (const struct of definition.structs) note(struct.fields)
    if (definition.structs.length > 0) names.add('struct')
  }
  return [...names].sort(new Intl.Collator('en', { numeric: true }).compare)
}

export interface TableFile {
  /** What the file holds, for its first line. */
  readonly title: string
  readonly definitions: readonly MessageDefinition[]
  /** Lines behind the messages. */
  readonly tail?: string
  /** More names to import from `schema/message.ts`. */
  readonly imports?: readonly string[]
}

/** The first line of every generated file. */
export const generatedLine = (title: string): string =>
  `/** Generated by scripts/generate-messages.ts from the definitions of Apache Kafka, do not edit: ${title}. */`

/** The text of a file with the tables of one or more messages. */
export function tableFileText(file: TableFile): string {
  const named = structNames(file.definitions)
  const parts = file.definitions.flatMap(definition => {
    const structName = (name: string) => named(definition, name)
    return [...definition.structs.map(struct => structText(struct, structName)), messageText(definition, structName)]
  })
  const fields = fieldImports(file.definitions)
  return [
    generatedLine(file.title),
    ...(fields.length === 0 ? [] : [importLine(fields, '../schema/field.ts')]),
    importLine([...(file.imports ?? []), 'type Infer', 'type Input', 'message'], '../schema/message.ts'),
    '',
    [...parts, ...(file.tail === undefined ? [] : [file.tail])].join('\n'),
  ].join('\n')
}
