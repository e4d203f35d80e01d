/** One call of a verb on mirror topics, and what the answer says in numbers. Called by the commands of the verbs. */
import type { AlterMirrorsAnswer } from '../../../rest/schemas/mirrors.ts'
import type { CommandContext } from '../../context.ts'
import { mirrorsPath } from '../../resource-paths.ts'
import { UsageError } from '../../usage-error.ts'
import { byteText, counted } from '../../words.ts'

export interface AlterOptions {
  readonly link: string
  readonly pattern?: string
  readonly dryRun?: boolean
}

/** A verb as REST calls it, on topics or on those that match the pattern of the options. */
export interface Subject {
  readonly verb: string
  readonly topics: readonly string[]
  readonly options: AlterOptions
  /** More fields of the body, and of the query; undefined ones are left out. */
  readonly body?: Readonly<Record<string, boolean | undefined>>
  readonly query?: Readonly<Record<string, string | undefined>>
}

export type AlterRow = AlterMirrorsAnswer['data'][number]

/** Throws UsageError unless there are either names or a pattern. */
export async function askVerb(context: CommandContext, subject: Subject, dryRun: boolean): Promise<AlterRow[]> {
  const { verb, topics, options, query } = subject
  const { link, pattern } = options
  if (topics.length > 0 === (pattern !== undefined)) throw new UsageError('give the names of topics, or --pattern')
  const selection = pattern === undefined ? { mirror_topic_names: topics } : { mirror_topic_name_pattern: pattern }
  const answer = await context.rest.post<AlterMirrorsAnswer>(`${mirrorsPath(link)}:${verb}`, {
    query: { ...query, validate_only: dryRun ? 'true' : undefined },
    body: { ...selection, ...subject.body },
  })
  return answer.data
}

export const isRefused = (row: AlterRow): boolean => (row.error_code ?? 0) !== 0

/** What is behind, open or at risk, as far as the node knows: parts of sentences. */
export function lossesOf(rows: readonly AlterRow[]) {
  const sum = (value: (row: AlterRow) => number) => rows.reduce((total, row) => total + value(row), 0)
  const lags = rows.flatMap(row => row.mirror_lags.map(({ lag }) => lag))
  const missing = lags.reduce<number>((total, lag) => total + (lag ?? 0), 0)
  const unknown = lags.filter(lag => lag === null).length
  const transactions = sum(row => row.open_transactions)
  const bytes = sum(row => row.retention_bytes_at_risk ?? 0)
  return {
    records: `${counted(missing, 'record')}${unknown > 0 ? ` and an unknown number in ${counted(unknown, 'partition')} not fetched yet` : ''}`,
    transactions: transactions > 0 ? counted(transactions, 'open transaction') : undefined,
    retention: bytes > 0 ? byteText(bytes) : undefined,
  }
}
