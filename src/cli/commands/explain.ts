/** `lockstep explain` */
import type { LinkDataList } from '../../rest/schemas/links.ts'
import type { CommandAction } from '../command-row.ts'
import type { CommandContext } from '../context.ts'
import { type Column, printData, printRows, printText } from '../output.ts'
import { linkPath, mirrorPath } from '../resource-paths.ts'
import { RestFailure } from '../rest-failure.ts'

/** As GET …/explain answers. */
interface Explanation {
  readonly link_name: string
  readonly source_topic_name: string
  readonly mirror_topic_name: string | null
  readonly mirrored: boolean
  readonly conclusion: string
  readonly conditions: readonly Condition[]
}

interface Condition {
  readonly name: string
  readonly answer: 'YES' | 'NO' | 'UNKNOWN'
  readonly detail: string
  readonly hint: string | null
}

interface Options {
  readonly link?: string
  readonly mirror?: boolean
}

const COLUMNS: readonly Column<Condition>[] = [
  { heading: 'Condition', key: 'name', value: row => row.name },
  { heading: 'Answer', key: 'answer', value: row => row.answer },
  { heading: 'Detail', key: 'detail', value: row => row.detail },
  { heading: 'Hint', key: 'hint', value: row => row.hint },
]

export const explainTopic: CommandAction<Options> = async (context, [topic = ''], { link, mirror }) => {
  const links = link === undefined ? await linkNames(context) : [link]
  if (links.length === 0) throw new Error('this cluster has no links, so nothing is mirrored')
  const found: Explanation[] = []
  for (const name of links) {
    try {
      found.push(await explain(context, name, { topic, isMirror: mirror === true }))
    } catch (error) {
      // Of several links some may not know a mirror of that name.
      if (!(error instanceof RestFailure) || error.status !== 404 || links.length === 1) throw error
    }
  }
  if (found.length === 0) throw new Error(`no link knows a mirror topic "${topic}"`)
  if (context.format !== 'human') return printData(context, link === undefined ? found.map(plain) : plain(found[0]))
  found.forEach((explanation, index) => {
    if (index > 0) context.terminal.out('\n')
    printExplanation(context, explanation)
  })
}

function explain(
  { rest }: CommandContext,
  link: string,
  { topic, isMirror }: { topic: string; isMirror: boolean },
): Promise<Explanation> {
  if (isMirror) return rest.get<Explanation>(`${mirrorPath(link, topic)}/explain`)
  return rest.get<Explanation>(`${linkPath(link)}/explain`, { query: { topic } })
}

async function linkNames(context: CommandContext): Promise<string[]> {
  return (await context.rest.get<LinkDataList>('/links')).data.map(link => link.link_name)
}

function printExplanation(context: CommandContext, explanation: Explanation): void {
  const { terminal } = context
  const { link_name: link, source_topic_name: source, mirror_topic_name: mirror } = explanation
  const as = mirror === null || mirror === source ? '' : ` as "${mirror}"`
  printText(terminal, `Topic "${source}"${as} over link "${link}": ${explanation.conclusion}`)
  terminal.out('\n')
  printRows(context, explanation.conditions, { columns: COLUMNS, empty: 'No conditions.' })
}

/** Without what only REST clients need. */
function plain(explanation: Explanation | undefined): object {
  if (!explanation) return {}
  const { link_name, source_topic_name, mirror_topic_name, mirrored, conclusion, conditions } = explanation
  return { link_name, source_topic_name, mirror_topic_name, mirrored, conclusion, conditions }
}
