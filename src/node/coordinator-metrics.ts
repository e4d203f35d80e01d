/** Figures of the coordinators for /metrics; the composition root and the page of the docs call it. */
import { Gauge, Registry } from 'prom-client'
import type { GroupFigures } from '../coordinator/groups/group-figures.ts'
import type { TransactionFigures } from '../coordinator/transactions/transaction-figures.ts'
import type { MetricsSource } from '../rest/ports.ts'

export interface CoordinatorFigures {
  groups(): GroupFigures
  transactions(): TransactionFigures
}

export function coordinatorMetrics(figures: CoordinatorFigures): MetricsSource {
  const registry = new Registry()
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `lockstep_${name}`, help, labelNames, registers: [registry] })
  const groups = gauge(
    'groups',
    'Groups that the node coordinates, those with nothing but offsets included, by type (classic, consumer, share) and state',
    ['type', 'state'],
  )
  const members = gauge('group_members', 'Members of the groups that the node coordinates, by type of the group', [
    'type',
  ])
  const commits = gauge('group_offset_commits', 'Offsets committed since the start')
  const transactions = gauge('transactions', 'Transactional ids that the node coordinates, by state', ['state'])
  const completing = gauge('transactions_completing', 'Transactions whose end is decided and whose markers are written')
  const oldest = gauge('transactions_oldest_open_seconds', 'How long the oldest open transaction has been open')
  return {
    text: () => {
      const ofGroups = figures.groups()
      groups.reset()
      for (const { type, state, count } of ofGroups.groups) groups.set({ type, state }, count)
      for (const [type, count] of ofGroups.members) members.set({ type }, count)
      commits.set(ofGroups.offsetCommits)
      const ofTransactions = figures.transactions()
      for (const [state, count] of Object.entries(ofTransactions.byState)) transactions.set({ state }, count)
      completing.set(ofTransactions.completing)
      oldest.set(ofTransactions.oldestOpenMs / 1000)
      return registry.metrics()
    },
  }
}
