/** One verb on mirror topics: asks the node, prints the rows, fails if topics were refused. Used by the commands of the verbs. */
import type { Command } from 'commander'
import type { AlterMirrorsAnswer } from '../../../rest/schemas/mirrors.ts'
import { type CommandContext, confirm, PartlyFailed } from '../../context.ts'
import { UsageError } from '../../usage-error.ts'
import { printAlterRows } from './alter-rows.ts'
import { parseWait, waitUntil } from './wait.ts'

export interface AlterOptions {
  readonly link: string
  readonly pattern?: string
  readonly dryRun?: boolean
  readonly together?: boolean
}

/** Options of verbs that end a mirror. */
export interface StopOptions extends AlterOptions {
  readonly force?: boolean
  readonly wait?: string | true
}

/** A command `<verb> [topic...]` with the options that all verbs have. */
export function verbCommand(mirror: Command, verb: string, description: string): Command {
  return mirror
    .command(`${verb} [topic...]`)
    .description(description)
    .requiredOption('--link <name>', 'the link that the mirrors belong to')
    .option('--pattern <regex>', 'all mirror topics of the link whose whole name matches, instead of names')
    .option('--dry-run', 'show what would happen and change nothing')
}

/** Adds what verbs have that end a mirror. */
export const stopOptions = (command: Command): Command =>
  command
    .option('--force', 'do not ask')
    .option('--wait [timeout]', 'wait until all are STOPPED, at most so many seconds (default 300)')

interface Subject {
  readonly verb: string
  readonly topics: readonly string[]
  readonly options: AlterOptions
}

/** `accepted` is called with the names of the topics for which the verb was accepted, before refusals are reported. */
export async function alterMirrors(
  context: CommandContext,
  subject: Subject,
  accepted: (topics: readonly string[]) => Promise<void> = async () => {},
): Promise<void> {
  const { dryRun = false } = subject.options
  const answer = await askNode(context, subject, dryRun)
  printAlterRows(context, answer)
  const isRefused = (row: AlterMirrorsAnswer['data'][number]) => (row.error_code ?? 0) !== 0
  const good = answer.data.filter(row => !isRefused(row)).map(row => row.mirror_topic_name)
  if (!dryRun && good.length > 0) await accepted(good)
  const refused = answer.data.length - good.length
  if (refused === 0) return
  const message = `${refused} of ${answer.data.length} topics were refused`
  throw good.length === 0 ? new Error(message) : new PartlyFailed(message)
}

/** Asks before it acts, and waits for the end if told to. `question` gets the topics that are meant. */
export async function stopMirrors(
  context: CommandContext,
  subject: Subject & { readonly options: StopOptions },
  question: (topics: readonly string[]) => Promise<string>,
): Promise<void> {
  const { link, dryRun, force, wait } = subject.options
  const timeoutMs = parseWait(wait)
  const isAsked = !dryRun && force !== true && context.terminal.interactive
  if (isAsked) await confirm(context, await question(await topicsOf(context, subject)), force)
  await alterMirrors(context, subject, async accepted => {
    if (timeoutMs !== undefined) await waitUntil(context, accepted, { link, status: 'STOPPED', timeoutMs })
  })
}

async function topicsOf(context: CommandContext, subject: Subject): Promise<readonly string[]> {
  if (subject.options.pattern === undefined) return subject.topics
  const { data } = await askNode(context, subject, true)
  return data.map(row => row.mirror_topic_name)
}

function askNode(
  context: CommandContext,
  { verb, topics, options }: Subject,
  dryRun: boolean,
): Promise<AlterMirrorsAnswer> {
  const { link, pattern, together } = options
  if (topics.length > 0 === (pattern !== undefined)) throw new UsageError('give the names of topics, or --pattern')
  const selection = pattern === undefined ? { mirror_topic_names: topics } : { mirror_topic_name_pattern: pattern }
  return context.rest.post<AlterMirrorsAnswer>(`/links/${encodeURIComponent(link)}/mirrors:${verb}`, {
    query: { validate_only: dryRun ? 'true' : undefined },
    body: { ...selection, ...(together ? { together } : {}) },
  })
}
