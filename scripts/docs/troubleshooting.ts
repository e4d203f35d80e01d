/** docs/generated/troubleshooting.md: what to do by the code that one sees, from the tables of error rows and of failures. */
import type { ErrorRow } from '../../src/core/errors.ts'
import { errorTables, sampleText } from './errors.ts'
import { code, type Page, plain, table } from './markdown.ts'

type Row = ErrorRow<unknown>

/** What a kind of refusal asks for; a row may have a hint of its own besides. */
function adviceOf({ retriable, status }: Row): string {
  if (retriable)
    return 'Nothing is wrong with the request: try it again. If it lasts, look at /readyz and at the log of the node.'
  if (status === 401 || status === 403)
    return 'Log in as somebody who has the right that the message names, or have it granted.'
  if (status === 404) return 'Look at the name: list what is there.'
  if (status === 409) return 'The state does not allow it now: describe the thing, it shows what is allowed.'
  if (status >= 500) return 'Look at the log of the node at that time.'
  return 'Correct what the message names, and ask again.'
}

const rowsOf = (row: Row) => `${row.status}/${row.restCode}`

/** The page. */
export function troubleshootingPage(): Page {
  const all = errorTables.flatMap(({ errors }) => Object.entries(errors))
  const byCode = [...Map.groupBy(all, ([, row]) => rowsOf(row))].sort(([a], [b]) =>
    a.localeCompare(b, 'en', { numeric: true }),
  )
  return {
    name: 'troubleshooting.md',
    title: 'What to do about an error',
    sources: errorTables.map(({ source }) => source),
    body: [
      'By HTTP status and `error_code` of REST; the command line shows the message and, in `-o json`, the code. What stands in braces is filled in. Errors of links are in [operations.md](../operations.md#links), those of FAILED mirrors in [operations.md](../operations.md#when-a-mirror-is-failed), alerts in [alerts.md](../alerts.md), and each name with its Kafka error in [errors.md](errors.md).',
      ...byCode.flatMap(([title, rows]) => [
        `## ${title}`,
        [...new Set(rows.map(([, row]) => adviceOf(row)))].join(' '),
        table(
          ['what it says', 'more to do', 'name'],
          rows.map(([name, row]) => [
            plain(sampleText(name, row.message)),
            row.hint === undefined ? '' : plain(sampleText(name, row.hint)),
            code(name),
          ]),
        ),
      ]),
    ].join('\n\n'),
  }
}
