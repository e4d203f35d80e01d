/** What wants an operator's attention, the worst first; read from links as the node tells them. Pure; the overview and the title show it. */

import type { NodeData } from '../../rest/schemas/clusters.ts'
import type { LinkData } from '../../rest/schemas/links.ts'
import { counted, statusWords } from '../text/figures.ts'

export interface Problem {
  readonly tone: 'bad' | 'warn'
  readonly title: string
  readonly detail: string | null
  readonly sinceMs: number | null
  /** Of the page: where to look. */
  readonly href: string
}

const WORDS: Readonly<Record<string, { readonly tone: 'bad' | 'warn'; readonly text: string }>> = {
  FAILED: { tone: 'bad', text: 'failed' },
  LINK_FAILED: { tone: 'bad', text: 'cannot go on while the link is failed' },
  SOURCE_UNAVAILABLE: { tone: 'bad', text: 'cannot reach the source' },
  PENDING_STOPPED: { tone: 'warn', text: 'waiting for the end of a promote' },
}

export function problemsOf(links: readonly LinkData[], nodes: readonly NodeData[]): Problem[] {
  const found = [...links.flatMap(linkProblems), ...nodes.flatMap(nodeProblems)]
  return found.sort((a, b) => Number(a.tone === 'warn') - Number(b.tone === 'warn'))
}

function linkProblems(link: LinkData): Problem[] {
  const { link_name: name } = link
  const href = linkHref(name)
  const problems: Problem[] = []
  if (link.link_error !== 'NO_ERROR')
    problems.push({
      tone: link.link_state === 'ACTIVE' ? 'warn' : 'bad',
      title: `Link ${name} is ${statusWords(link.link_state)}`,
      detail: `${link.link_error}: ${link.link_error_message}`,
      sinceMs: link.link_error_time_ms,
      href,
    })
  for (const { mirror_status: status, count } of link.mirror_status_counts) {
    const words = WORDS[status]
    if (words)
      problems.push({
        tone: words.tone,
        title: `${counted(count, 'mirror')} of ${name} ${words.text}`,
        detail: null,
        sinceMs: null,
        href: `${href}?status=${status}`,
      })
  }
  for (const task of link.tasks ?? [])
    if (task.errors.length > 0)
      problems.push({
        tone: 'warn',
        title: `Task ${task.task_name} of ${name}: ${counted(task.errors.length, 'error')}`,
        detail: task.errors[0]?.error_message ?? null,
        sinceMs: null,
        href: `${href}/tasks`,
      })
  return problems
}

const nodeProblems = (node: NodeData): Problem[] =>
  node.health === 'HEALTHY'
    ? []
    : [
        {
          tone: 'bad',
          title: `Node ${node.node_id} is ${statusWords(node.health)}`,
          detail: node.health_message,
          sinceMs: null,
          href: '#/nodes',
        },
      ]

export const linkHref = (link: string): string => `#/links/${encodeURIComponent(link)}`
export const mirrorHref = (link: string, topic: string): string =>
  `${linkHref(link)}/mirrors/${encodeURIComponent(topic)}`
