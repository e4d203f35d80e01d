/** `node test/simulation/peers/run-peers.ts --seeds N --from S`: runs the simulation of two sides for N seeds from S on; called by hand and by `npm run simulate:peers`. */
import { parseArgs } from 'node:util'
import { simulatePeers } from './simulate-peers.ts'

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '3000' }, from: { type: 'string', default: '1' } },
})
const from = Number(values.from)
const end = from + Number(values.seeds)
let failed = 0
let forks = 0
for (let seed = from; seed < end; seed++) {
  try {
    forks += (await simulatePeers(seed)).forks
  } catch (error) {
    failed++
    console.error(error instanceof Error ? error.message : error)
  }
}
console.log(`${end - from - failed} of ${end - from} seeds held, with ${forks} forks`)
process.exitCode = failed === 0 ? 0 : 1
