/** `node test/simulation/peers/run-peers.ts --seeds N --from S --stop F`: runs the simulation of two sides for N seeds from S on, until F have failed; called by hand and by `npm run simulate:peers`. */
import { parseArgs } from 'node:util'
import { simulatePeers } from './simulate-peers.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '3000' },
    from: { type: 'string', default: '1' },
    stop: { type: 'string', default: '20' },
  },
})
// Refusals are many, and nobody looks where they come from.
Error.stackTraceLimit = 0
const from = Number(values.from)
const end = from + Number(values.seeds)
const counts = { held: 0, failed: 0, forks: 0, restores: 0, consumed: 0 }
for (let seed = from; seed < end && counts.failed < Number(values.stop); seed++) {
  try {
    const { forks, restores, consumed } = await simulatePeers(seed)
    counts.held++
    counts.forks += forks
    counts.restores += restores
    counts.consumed += consumed
    if (counts.held % 50 === 0) console.log(`up to ${seed}: ${JSON.stringify(counts)}`)
  } catch (error) {
    counts.failed++
    console.error(error instanceof Error ? error.message : error)
  }
}
const { held, failed, forks, restores, consumed } = counts
console.log(
  `${held} of ${held + failed} seeds held, with ${forks} forks, ${restores} restores, ${consumed} batches consumed`,
)
process.exitCode = failed === 0 ? 0 : 1
