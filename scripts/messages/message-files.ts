/** Which generated file holds which messages: definitions in, path → text out; used by generate-messages.ts and its test. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type MessageDefinition, parseDefinition } from './definition.ts'
import { jarEntries } from './jar-entries.ts'
import { arrayText, callText, generatedLine, importLine, type TableFile, tableFileText } from './table-text.ts'

/** Jars with definitions, and the folder inside. */
const JARS: Readonly<Record<string, string>> = {
  'kafka-clients': 'common/message/',
  'kafka-metadata': 'common/metadata/',
  'kafka-group-coordinator': 'common/message/',
  'kafka-transaction-coordinator': 'common/message/',
  'kafka-share-coordinator': 'common/message/',
  'kafka-raft': 'common/message/',
  'kafka-storage': 'message/',
}

/** Messages without a key: file (without `.ts`) → names. What is not listed here is not generated (tiered storage). */
const KEYLESS: Readonly<Record<string, readonly string[]>> = {
  'messages/header': ['RequestHeader', 'ResponseHeader'],
  'messages/consumer-protocol-subscription': ['ConsumerProtocolSubscription'],
  'messages/consumer-protocol-assignment': ['ConsumerProtocolAssignment'],
  'messages/default-principal': ['DefaultPrincipalData'],
  'control-records/control-record-type': ['ControlRecordTypeSchema'],
  'control-records/end-txn-marker': ['EndTxnMarker'],
  'raft-records/leader-change': ['LeaderChangeMessage'],
  'raft-records/snapshot-header': ['SnapshotHeaderRecord'],
  'raft-records/snapshot-footer': ['SnapshotFooterRecord'],
  'raft-records/kraft-version': ['KRaftVersionRecord'],
  'raft-records/voters': ['VotersRecord'],
  'raft-records/quorum-state': ['QuorumStateData'],
  'log-files/producer-snapshot': ['ProducerSnapshot'],
}

const COORDINATORS: Readonly<Record<string, string>> = {
  'kafka-group-coordinator': 'group',
  'kafka-transaction-coordinator': 'transaction',
  'kafka-share-coordinator': 'share',
}

interface SourcedDefinition {
  readonly jar: string
  readonly definition: MessageDefinition
}

/** Reads all definitions out of the jars of one Kafka version. */
export function readDefinitions(jarFolder: string): SourcedDefinition[] {
  const found: SourcedDefinition[] = []
  for (const [jar, folder] of Object.entries(JARS)) {
    const file = readdirSync(jarFolder).find(name => name.startsWith(`${jar}-`) && /^-\d/.test(name.slice(jar.length)))
    if (file === undefined) throw new Error(`no ${jar} jar in ${jarFolder}`)
    const entries = jarEntries(join(jarFolder, file), name => name.startsWith(folder) && name.endsWith('.json'))
    for (const text of entries.values()) {
      const definition = parseDefinition(text.toString('utf8'))
      if (definition) found.push({ jar, definition })
    }
  }
  return found
}

/** `InitProducerId` → `init-producer-id`. */
const kebab = (name: string): string => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase()
const twoDigits = (key: number): string => String(key).padStart(2, '0')
const byKey = (a: MessageDefinition, b: MessageDefinition): number => (a.apiKey ?? -1) - (b.apiKey ?? -1)

/** One generated table file and what a registry needs to import it. */
interface KeyedFile {
  readonly path: string
  /** Exported names for the registry, in the order of the key. */
  readonly names: readonly string[]
  readonly file: TableFile
}

function apiFiles(definitions: readonly SourcedDefinition[]): KeyedFile[] {
  const all = definitions.map(({ definition }) => definition)
  const requests = all.filter(({ type }) => type === 'request').sort(byKey)
  return requests.map(request => {
    const response = all.find(({ type, apiKey }) => type === 'response' && apiKey === request.apiKey)
    if (!response) throw new Error(`no response for ${request.name}`)
    const name = request.name.replace(/Request$/, '')
    const options = name === 'ApiVersions' ? ['{ plainResponseHeader: true }'] : []
    const doc = `/** API ${request.apiKey} with both messages. */`
    return {
      path: `messages/${twoDigits(request.apiKey ?? -1)}-${kebab(name)}`,
      names: [`${name}Api`],
      file: {
        title: `${name}, API ${request.apiKey}`,
        definitions: [request, response],
        imports: ['api'],
        tail: `${doc}\n${callText(`export const ${name}Api = api`, [request.name, response.name, ...options])}\n`,
      },
    }
  })
}

function metadataFiles(definitions: readonly SourcedDefinition[]): KeyedFile[] {
  const records = definitions.filter(({ jar }) => jar === 'kafka-metadata').map(({ definition }) => definition)
  return records.sort(byKey).map(definition => ({
    path: `metadata-records/${twoDigits(definition.apiKey ?? -1)}-${kebab(definition.name.replace(/Record$/, ''))}`,
    names: [definition.name],
    file: { title: `${definition.name}, metadata record type ${definition.apiKey}`, definitions: [definition] },
  }))
}

function coordinatorFiles(definitions: readonly SourcedDefinition[], jar: string, family: string): KeyedFile[] {
  const own = definitions.filter(sourced => sourced.jar === jar).map(({ definition }) => definition)
  const keys = own.filter(({ type }) => type === 'coordinator-key').sort(byKey)
  return keys.map(key => {
    const value = own.find(({ type, apiKey }) => type === 'coordinator-value' && apiKey === key.apiKey)
    if (!value) throw new Error(`no value for ${key.name}`)
    const name = key.name.replace(/Key$/, '')
    return {
      path: `coordinator-records/${family}-${twoDigits(key.apiKey ?? -1)}-${kebab(name)}`,
      names: [key.name, value.name],
      file: { title: `${name}, record type ${key.apiKey} of the ${family} coordinator`, definitions: [key, value] },
    }
  })
}

function keylessFiles(definitions: readonly SourcedDefinition[]): KeyedFile[] {
  return Object.entries(KEYLESS).map(([path, names]) => {
    const own = names.map(name => {
      const found = definitions.find(({ definition }) => definition.name === name)
      if (!found) throw new Error(`no definition of ${name}`)
      return found.definition
    })
    return { path, names, file: { title: names.join(' and '), definitions: own } }
  })
}

/** Imports of a list file, sorted as Biome sorts them. */
function listImports(files: readonly KeyedFile[]): string {
  const collator = new Intl.Collator('en', { numeric: true })
  const sorted = [...files].sort((a, b) => collator.compare(a.path, b.path))
  return sorted.map(({ path, names }) => importLine(names, `./${path.split('/')[1]}.ts`)).join('\n')
}

function apiListText(files: readonly KeyedFile[]): string {
  const names = files.flatMap(file => file.names)
  return `${generatedLine('every API by key, for api-registry.ts')}
${listImports(files)}

/** All APIs in the order of their keys. */
${arrayText('export const apiList = ', names)}
`
}

function metadataListText(files: readonly KeyedFile[]): string {
  const definitions = files.flatMap(({ file }) => file.definitions)
  const name = (definition: MessageDefinition): string => definition.name.replace(/Record$/, '')
  return `${generatedLine('every metadata record type, for registry.ts')}
${listImports(files)}

/** Numbers of the record types. */
export const MetadataRecordType = {
${definitions.map(definition => `  ${name(definition)}: ${definition.apiKey},\n`).join('')}} as const

/** Tables by record type. */
export const metadataRecordTables = {
${definitions.map(definition => `  ${definition.apiKey}: ${definition.name},\n`).join('')}} as const
`
}

function coordinatorListText(families: Readonly<Record<string, readonly KeyedFile[]>>): string {
  const lists = Object.entries(families).map(
    ([family, files]) => `/** Key and value of every record type of the ${family} coordinator. */
${arrayText(
  `export const ${family}RecordList = `,
  files.map(({ names }) => `{ key: ${names[0]}, value: ${names[1]} }`),
)}
`,
  )
  return `${generatedLine('every record type of the coordinators, for registry.ts')}
${listImports(Object.values(families).flat())}

${lists.join('\n')}`
}

/** All generated files: path below src/protocol → text. */
export function messageFiles(definitions: readonly SourcedDefinition[]): Map<string, string> {
  const apis = apiFiles(definitions)
  const metadata = metadataFiles(definitions)
  const families = Object.fromEntries(
    Object.entries(COORDINATORS).map(([jar, family]) => [family, coordinatorFiles(definitions, jar, family)]),
  )
  const files = [...apis, ...metadata, ...Object.values(families).flat(), ...keylessFiles(definitions)]
  return new Map([
    ...files.map(({ path, file }): [string, string] => [`${path}.ts`, tableFileText(file)]),
    ['messages/api-list.ts', apiListText(apis)],
    ['metadata-records/record-list.ts', metadataListText(metadata)],
    ['coordinator-records/record-list.ts', coordinatorListText(families)],
  ])
}
