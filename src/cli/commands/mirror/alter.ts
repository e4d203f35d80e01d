/** One verb on mirror topics: asks the node, prints the rows, fails if topics were refused. Used by the commands of the verbs. */
import type { AlterMirrorsAnswer } from '../../../rest/schemas/mirrors.ts'
import { type CommandContext, PartlyFailed } from '../../context.ts'
import { printAlterRows } from './alter-rows.ts'

export interface AlterOptions {
  readonly link: string
  readonly dryRun?: boolean
}

/** `accepted` is called with the names of the topics for which the verb was accepted, before refusals are reported. */
export async function alterMirrors(
  context: CommandContext,
  subject: { readonly verb: string; readonly topics: readonly string[]; readonly options: AlterOptions },
  accepted: (topics: readonly string[]) => Promise<void> = async () => {},
): Promise<void> {
  const { verb, topics, options } = subject
  const answer = await context.rest.post<AlterMirrorsAnswer>(
    `/links/${encodeURIComponent(options.link)}/mirrors:${verb}`,
    {
      query: { validate_only: options.dryRun ? 'true' : undefined },
      body: { mirror_topic_names: topics },
    },
  )
  printAlterRows(context, answer)
  const isRefused = (row: AlterMirrorsAnswer['data'][number]) => (row.error_code ?? 0) !== 0
  const good = answer.data.filter(row => !isRefused(row)).map(row => row.mirror_topic_name)
  if (!options.dryRun && good.length > 0) await accepted(good)
  const refused = answer.data.length - good.length
  if (refused === 0) return
  const message = `${refused} of ${answer.data.length} topics were refused`
  throw good.length === 0 ? new Error(message) : new PartlyFailed(message)
}
