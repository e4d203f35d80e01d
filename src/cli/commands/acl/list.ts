/** `lockstep acl list` */
import type { LinkAclData, LinkAclDataList } from '../../../rest/schemas/acls.ts'
import type { CommandAction } from '../../command-row.ts'
import { type Column, printRows } from '../../output.ts'
import { linkPath } from '../../resource-paths.ts'

const COLUMNS: readonly Column<LinkAclData>[] = [
  { heading: 'Principal', key: 'principal', value: row => row.principal },
  { heading: 'Permission', key: 'permission', value: row => row.permission },
  { heading: 'Operation', key: 'operation', value: row => row.operation },
  { heading: 'Resource Type', key: 'resource_type', value: row => row.resource_type },
  { heading: 'Resource Name', key: 'resource_name', value: row => row.resource_name },
  { heading: 'Pattern Type', key: 'pattern_type', value: row => row.pattern_type },
  { heading: 'Host', key: 'host', value: row => row.host },
]

export const listAcls: CommandAction<{ link: string }> = async (context, _args, { link }) => {
  const { data } = await context.rest.get<LinkAclDataList>(`${linkPath(link)}/acls`)
  printRows(context, data, { columns: COLUMNS, empty: 'No ACLs.' })
  const strangers = [...new Set(data.filter(row => row.has_login === false).map(row => row.principal))]
  if (context.format === 'human' && strangers.length > 0)
    context.terminal.err(
      `Without SCRAM credentials here, so they could not log in with SCRAM: ${strangers.join(', ')}\n`,
    )
}
