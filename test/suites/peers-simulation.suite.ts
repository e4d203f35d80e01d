/** The simulation of two sides that change roles, with 300 seeds: crashes at every effect, bad disks, a network that is cut between them. SEEDS asks for more, FROM for others. */
import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { simulatePeers } from '../simulation/peers/simulate-peers.ts'

const seeds = Number(process.env['SEEDS'] ?? 300)
const from = Number(process.env['FROM'] ?? 1)

test(`two sides find back to one writer and its mirror in ${seeds} histories, and nothing is lost silently`, async t => {
  let forks = 0
  let acknowledged = 0
  for (let seed = from; seed < from + seeds; seed++) {
    const report = await simulatePeers(seed)
    forks += report.forks
    acknowledged += report.acknowledged
  }
  // Otherwise it would prove little.
  if (seeds >= 100) ok(forks > seeds / 10 && acknowledged > seeds)
  t.diagnostic(`${forks} forks, ${acknowledged} acknowledged batches`)
})

test('a seed gives the same history every time', async () => {
  const [first, second] = [await simulatePeers(11), await simulatePeers(11)]
  // Ids are drawn anew in each run, and stand in a few messages.
  const withoutIds = (trace: readonly string[]) => trace.map(step => step.replaceAll(/[\w-]{22}/g, 'id'))
  deepEqual(withoutIds(second.trace), withoutIds(first.trace))
})
