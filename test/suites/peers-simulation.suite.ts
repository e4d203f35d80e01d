/** The simulation of two sides that change roles, with 120 seeds: several topics, transactions and groups over them, crashes at every effect, bad disks, a network that is cut, links that are deleted, logs that grow and shrink. SEEDS asks for more, FROM for others. */
import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { simulatePeers } from '../simulation/peers/simulate-peers.ts'

const seeds = Number(process.env['SEEDS'] ?? 120)
const from = Number(process.env['FROM'] ?? 1)

test(`two sides find back to one writer and its mirror in ${seeds} histories, nothing is lost silently, and no group skips a record`, async t => {
  const counts = { forks: 0, restores: 0, acknowledged: 0, consumed: 0 }
  for (let seed = from; seed < from + seeds; seed++) {
    const report = await simulatePeers(seed)
    counts.forks += report.forks
    counts.restores += report.restores
    counts.acknowledged += report.acknowledged
    counts.consumed += report.consumed
  }
  const { forks, restores, acknowledged, consumed } = counts
  // Otherwise it would prove little.
  if (seeds >= 100) ok(forks > seeds / 2 && restores > seeds / 2 && acknowledged > seeds && consumed > seeds)
  t.diagnostic(`${forks} forks, ${restores} restores, ${acknowledged} acknowledged batches, ${consumed} consumed`)
})

test('a seed gives the same history every time', async () => {
  const [first, second] = [await simulatePeers(11), await simulatePeers(11)]
  // Ids are drawn anew in each run, and stand in a few messages.
  const withoutIds = (trace: readonly string[]) => trace.map(step => step.replaceAll(/[\w-]{22}/g, 'id'))
  deepEqual(withoutIds(second.trace), withoutIds(first.trace))
})
