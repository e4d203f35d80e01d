/** `npm run soak`: the randomised suites and the simulation for longer than CI has time for; every seed is printed. Needs Java and Maven. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const usage = `usage: npm run soak -- [options]
  --rounds N  how often each suite runs, with another seed each time (default 3)
  --faults N  kills, or faults of source brokers, in one run of a suite (default 30)
  --seeds N   seeds of the simulation in each round (default 500)
  --connections N  clients at a time (default 5000)
  --partitions N   partitions of one node (default 10000)
  --joined-partitions N   mirror partitions of a node in a Kafka cluster (default 2000)
  --from S    the first seed (default: by chance)
To repeat a run: --rounds 1 --from SEED and the same other options.`

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    faults: { type: 'string', default: '30' },
    seeds: { type: 'string', default: '500' },
    connections: { type: 'string', default: '5000' },
    partitions: { type: 'string', default: '10000' },
    'joined-partitions': { type: 'string', default: '2000' },
    from: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000_000)) },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(usage)
  process.exit(0)
}
const [rounds, seeds, from] = [Number(values.rounds), Number(values.seeds), Number(values.from)]
const root = fileURLToPath(new URL('..', import.meta.url))
const suite = (name: string, pattern: string) => ['--test', `--test-name-pattern=${pattern}`, `test/suites/${name}`]

/** What a round runs, one after the other. */
const parts: readonly ((seed: number) => string[])[] = [
  () => suite('kill-loop.suite.ts', 'killed again and again'),
  () => suite('source-brokers.suite.ts', 'leaders that are killed'),
  () => suite('broker-crashes.suite.ts', 'killed again and again'),
  () => suite('streams-word-count.suite.ts', 'ends exact'),
  () => suite('hostile-clients.suite.ts', '.'),
  () => suite('faults.suite.ts', 'connections above the limits'),
  () => suite('many-partitions.suite.ts', '.'),
  () => suite('joined-many-partitions.suite.ts', '.'),
  () => suite('joined-chaos.suite.ts', '.'),
  seed => ['test/simulation/run.ts', '--seeds', String(seeds), '--from', String(seed)],
]

const failures: string[] = []
for (let round = 0; round < rounds; round++) {
  // The simulation takes as many seeds as it has runs: rounds do not share any.
  const seed = from + round * seeds
  for (const part of parts) {
    const args = part(seed)
    const what = `round ${round + 1} of ${rounds}, LOCKSTEP_SEED=${seed} LOCKSTEP_ROUNDS=${values.faults}: ${args.join(' ')}`
    console.log(what)
    const env = {
      ...process.env,
      LOCKSTEP_SEED: String(seed),
      LOCKSTEP_ROUNDS: values.faults,
      LOCKSTEP_CONNECTIONS: values.connections,
      LOCKSTEP_PARTITIONS: values.partitions,
      LOCKSTEP_JOINED_PARTITIONS: values['joined-partitions'],
      LOCKSTEP_REQUIRE_ALL: '1',
    }
    const [status] = await once(spawn(process.execPath, args, { cwd: root, env, stdio: 'inherit' }), 'close')
    if (status !== 0) failures.push(what)
  }
}
console.log(failures.length === 0 ? `${rounds} rounds held` : `failed:\n${failures.join('\n')}`)
process.exitCode = failures.length === 0 ? 0 : 1
