/** `lockstep link preflight` */
import type { CommandAction } from '../../command-row.ts'
import { type Column, printData, printRows } from '../../output.ts'
import { type LinkOptions, linkRequest } from './link-request.ts'

/** As POST …/links:preflight answers. */
interface Preflight {
  readonly ok: boolean
  readonly results: readonly Check[]
}

interface Check {
  readonly name: string
  readonly state: 'PASSED' | 'WARNING' | 'FAILED' | 'SKIPPED'
  readonly message: string
  readonly hint: string | null
}

const COLUMNS: readonly Column<Check>[] = [
  { heading: 'Check', key: 'name', value: row => row.name },
  { heading: 'Result', key: 'state', value: row => row.state },
  { heading: 'Message', key: 'message', value: row => row.message },
  { heading: 'Hint', key: 'hint', value: row => row.hint },
]

export const preflightLink: CommandAction<LinkOptions> = async (context, [name], options) => {
  const query = { link_name: name }
  const { ok, results } = await context.rest.post<Preflight>('/links:preflight', {
    query,
    body: linkRequest(options).body,
  })
  if (context.format !== 'human')
    printData(context, {
      ok,
      results: results.map(({ name, state, message, hint }) => ({ name, state, message, hint })),
    })
  else {
    printRows(context, results, { columns: COLUMNS, empty: 'Nothing was checked.' })
    const hints = results.filter(({ state }) => state === 'WARNING').length
    context.terminal.out(ok ? `\nThe link can be created${hints > 0 ? `, with ${hints} warning(s)` : ''}.\n` : '\n')
  }
  if (!ok)
    throw new Error(`${results.filter(({ state }) => state === 'FAILED').length} of ${results.length} checks failed`)
}
