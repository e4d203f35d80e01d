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
  PENDING_SYNCHRONIZE: { tone: 'warn', text: 'changing roles with the source' },
  PENDING_MIRROR: { tone: 'warn', text: 'changing roles with the other end' },
  PENDING_SETUP_FOR_RESTORE: { tone: 'warn', text: 'about to be restored' },
  PENDING_RESTORE: { tone: 'warn', text: 'being restored' },
}

/** Statuses that say something of the link, and nothing of the mirror itself. */
const OF_LINK: ReadonlySet<string> = new Set(['LINK_FAILED', 'SOURCE_UNAVAILABLE'])

/** A choice in the table of mirrors beside their statuses: what is ACTIVE, but in trouble. */
export const TROUBLED = 'TROUBLED'

export function problemsOf(links: readonly LinkData[], nodes: readonly NodeData[]): Problem[] {
  const found = [...links.flatMap(linkProblems), ...nodes.flatMap(nodeProblems)]
  return found.sort((a, b) => Number(a.tone === 'warn') - Number(b.tone === 'warn'))
}

function linkProblems(link: LinkData): Problem[] {
  const { link_name: name } = link
  const href = linkHref(name)
  const hasError = link.link_error !== 'NO_ERROR'
  const problems: Problem[] = []
  if (hasError)
    problems.push({
      tone: link.link_state === 'ACTIVE' ? 'warn' : 'bad',
      title:
        link.link_state === 'ACTIVE' ? `Link ${name} has an error` : `Link ${name} is ${statusWords(link.link_state)}`,
      detail: `${link.link_error}: ${link.link_error_message}${heldUp(link)}`,
      sinceMs: link.link_error_time_ms,
      href,
    })
  for (const { mirror_status: status, count } of link.mirror_status_counts) {
    const words = WORDS[status]
    if (words && !(hasError && OF_LINK.has(status)))
      problems.push({
        tone: words.tone,
        title: `${counted(count, 'mirror')} of ${name} ${words.text}`,
        detail: null,
        sinceMs: null,
        href: `${href}?status=${status}`,
      })
  }
  if (link.troubled_mirror_count > 0 && !hasError)
    problems.push({
      tone: 'warn',
      title: `${counted(link.troubled_mirror_count, 'mirror')} of ${name} in trouble`,
      detail: 'Active, but something keeps them from following their source; it is tried again.',
      sinceMs: null,
      href: `${href}?status=${TROUBLED}`,
    })
  for (const task of hasError ? [] : (link.tasks ?? []))
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

/** What the error of a link keeps from going on; told once, and not mirror by mirror and task by task. */
function heldUp(link: LinkData): string {
  const mirrors = link.mirror_status_counts.reduce(
    (sum, { mirror_status: status, count }) => sum + (OF_LINK.has(status) ? count : 0),
    link.troubled_mirror_count,
  )
  const tasks = (link.tasks ?? []).filter(({ errors }) => errors.length > 0).length
  const held = [...(mirrors > 0 ? [counted(mirrors, 'mirror')] : []), ...(tasks > 0 ? [counted(tasks, 'task')] : [])]
  return held.length === 0 ? '' : `. It holds up ${held.join(' and ')}.`
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
