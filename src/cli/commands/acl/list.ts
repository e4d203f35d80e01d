/** `lockstep acl list` */
import type { Command } from 'commander'
import type { LinkAclData, LinkAclDataList } from '../../../rest/schemas/acls.ts'
import { type CliEnvironment, contextOf } from '../../context.ts'
import { type Column, printRows } from '../../output.ts'

const COLUMNS: readonly Column<LinkAclData>[] = [
  { heading: 'Principal', key: 'principal', value: row => row.principal },
  { heading: 'Permission', key: 'permission', value: row => row.permission },
  { heading: 'Operation', key: 'operation', value: row => row.operation },
  { heading: 'Resource Type', key: 'resource_type', value: row => row.resource_type },
  { heading: 'Resource Name', key: 'resource_name', value: row => row.resource_name },
  { heading: 'Pattern Type', key: 'pattern_type', value: row => row.pattern_type },
  { heading: 'Host', key: 'host', value: row => row.host },
]

export function addAclList(acl: Command, environment: CliEnvironment): void {
  acl
    .command('list')
    .description('the ACLs that a link created here and keeps in step with the source')
    .requiredOption('--link <name>', 'the link')
    .action(async ({ link }: { link: string }, command: Command) => {
      const context = contextOf(command, environment)
      const { data } = await context.rest.get<LinkAclDataList>(`/links/${encodeURIComponent(link)}/acls`)
      printRows(context.terminal, data, { columns: COLUMNS, format: context.format, empty: 'No ACLs.' })
      const strangers = [...new Set(data.filter(row => row.has_login === false).map(row => row.principal))]
      if (context.format === 'human' && strangers.length > 0)
        context.terminal.err(
          `Without SCRAM credentials here, so they could not log in with SCRAM: ${strangers.join(', ')}\n`,
        )
    })
}
