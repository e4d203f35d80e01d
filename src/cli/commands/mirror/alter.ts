/** One verb on mirror topics: asks first where something is lost, prints the rows, waits if told to, fails if topics were refused. */
import type { MirrorData } from '../../../rest/schemas/mirrors.ts'
import { type CommandContext, confirm } from '../../context.ts'
import { PartlyFailed } from '../../failure.ts'
import { lengthOfTime } from '../../number-option.ts'
import { printAlterRows, refusalText } from './alter-rows.ts'
import { type AlterOptions, type AlterRow, askVerb, isRefused, type Subject } from './ask-verb.ts'
import { type EndState, waitUntil } from './wait.ts'

/** Options of verbs that end a mirror, or turn it round. */
export interface StopOptions extends AlterOptions {
  readonly together?: boolean
  readonly force?: boolean
  /** Empty = the default time. */
  readonly wait?: string
}

const WAIT_MS = 300_000

interface Alteration {
  /** What is asked on a terminal, given the answer of a dry run; without it nothing is asked. */
  readonly question?: (dry: readonly AlterRow[]) => string
  readonly force?: boolean | undefined
  /** Waits for these states, so long. */
  readonly wait?: { readonly end: EndState; readonly time: string } | undefined
  /** Says what came of it when all are there. */
  readonly reached?: (context: CommandContext, mirrors: readonly MirrorData[]) => void
  readonly print?: (context: CommandContext, rows: readonly AlterRow[], isDry: boolean) => void
}

/** Throws PartlyFailed if some topics were refused, an Error if all were. */
export async function alterMirrors(context: CommandContext, subject: Subject, how: Alteration = {}): Promise<void> {
  const { print = printAlterRows, question, wait } = how
  const { dryRun: isDry = false, link } = subject.options
  const timeoutMs = wait && (wait.time === '' ? WAIT_MS : lengthOfTime('--wait', wait.time))
  if (question && !isDry) {
    const dry = await dryRun(context, subject, how.force)
    // Where all topics would be refused there is nothing to be lost, and the node says why.
    if (dry.length > 0) await confirm(context, how.force, async () => question(dry))
  }
  const rows = await askVerb(context, subject, isDry)
  print(context, rows, isDry)
  const good = accepted(rows).map(row => row.mirror_topic_name)
  if (wait && timeoutMs !== undefined && !isDry && good.length > 0) {
    const mirrors = await waitUntil(context, good, { link, end: wait.end, timeoutMs })
    how.reached?.(context, mirrors)
  }
  const refusal = refusalText(rows)
  if (refusal !== undefined) throw good.length === 0 ? new Error(refusal) : new PartlyFailed(refusal)
}

/** What would be accepted; nothing is asked of the node where nobody can be asked. */
async function dryRun(context: CommandContext, subject: Subject, force: boolean | undefined) {
  if (force === true || !context.terminal.interactive) return []
  return accepted(await askVerb(context, subject, true))
}

const accepted = (rows: readonly AlterRow[]) => rows.filter(row => !isRefused(row))
