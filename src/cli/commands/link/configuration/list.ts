/** `lockstep link configuration list` */
import type { Command } from 'commander'
import type { LinkConfigDataList } from '../../../../rest/schemas/links.ts'
import { type CliEnvironment, type CommandContext, contextOf } from '../../../context.ts'
import { type Column, printRows } from '../../../output.ts'

interface Row {
  readonly name: string
  readonly value: string | null
  readonly readOnly: boolean
  readonly sensitive: boolean
  readonly source: string
  readonly synonyms: readonly string[]
}

const COLUMNS: readonly Column<Row>[] = [
  { heading: 'Config Name', key: 'config_name', value: row => row.name },
  { heading: 'Config Value', key: 'config_value', value: row => row.value },
  { heading: 'Read-Only', key: 'read_only', value: row => row.readOnly },
  { heading: 'Sensitive', key: 'sensitive', value: row => row.sensitive },
  { heading: 'Source', key: 'source', value: row => row.source },
]

/** A list in JSON and YAML, joined for people. */
const synonymsColumn = (human: boolean): Column<Row> => ({
  heading: 'Synonyms',
  key: 'synonyms',
  value: row => (human ? row.synonyms.join(', ') : [...row.synonyms]),
})

export function addLinkConfigurationList(configuration: Command, environment: CliEnvironment): void {
  configuration
    .command('list <link>')
    .description('list the properties of a link')
    .action((name: string, _options: unknown, command: Command) =>
      listConfiguration(contextOf(command, environment), name),
    )
}

async function listConfiguration(context: CommandContext, link: string): Promise<void> {
  const { data } = await context.rest.get<LinkConfigDataList>(`/links/${encodeURIComponent(link)}/configs`)
  const rows: Row[] = data.map(config => ({
    name: config.name,
    value: config.value,
    readOnly: config.is_read_only,
    sensitive: config.is_sensitive,
    source: config.source,
    synonyms: config.synonyms,
  }))
  const destination = { value: data[0]?.cluster_id ?? null, readOnly: true, sensitive: true, source: '', synonyms: [] }
  rows.push({ name: 'dest.cluster.id', ...destination })
  rows.sort((a, b) => (a.name < b.name ? -1 : 1))
  const columns = [...COLUMNS, synonymsColumn(context.format === 'human')]
  printRows(context.terminal, rows, { columns, format: context.format, empty: 'No properties.' })
}
