/** `lockstep link configuration list` */
import type { LinkConfigDataList } from '../../../../rest/schemas/links.ts'
import type { CommandAction } from '../../../command-row.ts'
import { type Column, printRows } from '../../../output.ts'
import { linkPath } from '../../../resource-paths.ts'

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
  { heading: 'Synonyms', key: 'synonyms', value: row => row.synonyms, text: row => row.synonyms.join(', ') },
]

export const listLinkConfiguration: CommandAction = async (context, [link = '']) => {
  const { data } = await context.rest.get<LinkConfigDataList>(`${linkPath(link)}/configs`)
  const rows: Row[] = data.map(config => ({
    name: config.name,
    value: config.value,
    readOnly: config.is_read_only,
    sensitive: config.is_sensitive,
    source: config.source,
    synonyms: config.synonyms,
  }))
  // Known from elsewhere as part of this list.
  const destination = {
    value: await context.rest.clusterId(),
    readOnly: true,
    sensitive: true,
    source: '',
    synonyms: [],
  }
  rows.push({ name: 'dest.cluster.id', ...destination })
  rows.sort((a, b) => (a.name < b.name ? -1 : 1))
  printRows(context, rows, { columns: COLUMNS, empty: 'No properties.' })
}
