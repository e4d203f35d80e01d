/** docs/generated/errors.md: every error that REST and the command line can show, from the tables of error rows. */
import { controllerErrors } from '../../src/controller/local/controller-errors.ts'
import type { ErrorRow, ErrorTable } from '../../src/core/errors.ts'
import { linkErrors } from '../../src/link/errors.ts'
import { restErrors } from '../../src/rest/errors.ts'
import { code, type Page, plain, table, yesNo } from './markdown.ts'

/** Every table of errors that somebody may see. */
export const errorTables: readonly { readonly title: string; readonly source: string; readonly errors: ErrorTable }[] =
  [
    { title: 'Links and mirrors', source: 'src/link/errors.ts', errors: linkErrors },
    { title: 'REST', source: 'src/rest/errors.ts', errors: restErrors },
    { title: 'Cluster', source: 'src/controller/local/controller-errors.ts', errors: controllerErrors },
  ]

/** Details that are not a text; every other one is shown as its name in braces. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  topics: ['{topic}'],
  known: ['{task}'],
  legal: ['{verb}', '{verb}'],
  need: { operation: '{operation}', resource: '{resource}', name: '{name}' },
}

/** The page. */
export function errorsPage(): Page {
  return {
    name: 'errors.md',
    title: 'Errors',
    sources: errorTables.map(({ source }) => source),
    body: [
      'A REST answer has the status, and in its body `error_code`, `message` and, where a person can act, `hint`. What stands in braces is filled in. Retriable means that the same request may succeed later without any change.',
      ...errorTables.flatMap(({ title, errors }) => [
        `## ${title}`,
        table(
          ['name', 'HTTP', '`error_code`', 'Kafka error', 'retriable', 'message', 'hint'],
          Object.entries(errors).map(([name, row]) => errorLine(name, row)),
        ),
      ]),
    ].join('\n\n'),
  }
}

function errorLine(name: string, row: ErrorRow<unknown>): string[] {
  const { status, restCode, kafka, retriable, message, hint } = row
  const texts = [sampleText(name, message), hint === undefined ? '' : sampleText(name, hint)]
  return [code(name), String(status), String(restCode), code(kafka), yesNo(retriable), ...texts.map(plain)]
}

/** The text with the names of its details in braces. */
export function sampleText(name: string, text: (detail: unknown) => string): string {
  const detail = new Proxy({}, { get: (_target, field) => SAMPLES[String(field)] ?? `{${String(field)}}` })
  try {
    return text(detail)
  } catch (error) {
    throw new Error(`the text of ${name} needs a sample detail in scripts/docs/errors.ts`, { cause: error })
  }
}
