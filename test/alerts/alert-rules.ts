/** The Prometheus rules of deploy/ as data, and which names and labels an expression uses; asked by the check of alerts and by the suite. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

export const rulesFile = 'deploy/prometheus/lockstep-rules.yaml'

export interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook: string }
}

export function alertRules(): AlertRule[] {
  const { groups } = parse(readFileSync(rulesFile, 'utf8')) as { groups: { rules: AlertRule[] }[] }
  return groups.flatMap(({ rules }) => rules)
}

/** A metric of a PromQL expression, with the labels that it is selected by. */
export interface UsedMetric {
  readonly name: string
  readonly labels: readonly string[]
}

const WORDS = new Set(['and', 'or', 'unless', 'bool'])
const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right) ?\(([^)]*)\)/g

export function metricsIn(expr: string): UsedMetric[] {
  const bare = expr
    .replace(/"[^"]*"/g, '""')
    .replace(GROUPING, ' ')
    .replace(/\[[^\]]*\]/g, ' ')
  return [...bare.matchAll(/\b([a-z_]\w*)\b(?:\{([^}]*)\})?(?!\s*\()/g)]
    .filter(([, name = '']) => !WORDS.has(name))
    .map(([, name = '', selector = '']) => ({
      name,
      labels: split(selector).map(matcher => matcher.split(/[=!]/)[0] ?? ''),
    }))
}

/** Labels that the expression splits or joins by. */
export const groupedBy = (expr: string): string[] => [
  ...new Set([...expr.matchAll(GROUPING)].flatMap(([, labels = '']) => split(labels))),
]

const split = (list: string) =>
  list
    .split(',')
    .map(part => part.trim())
    .filter(Boolean)
