/** `npm run test:matrix [suite…]`: runs the suites of mirrors against joined Kafka clusters of every version and shape, and prints who passed. Needs Java and Maven; all of it takes hours. */
import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { type Combination, matrixSuites, nameOf, type PlannedRun, plannedRuns } from '../test/matrix/combinations.ts'
import { addResult, lastOf, type MatrixResult, readResults, tableOf } from '../test/matrix/matrix-results.ts'
import { missingForSuites } from '../test/requirements.ts'

const usage = `usage: npm run test:matrix -- [suite…] [options]
Suites: ${matrixSuites.map(({ name, isExhaustive }) => (isExhaustive ? `${name} (with every combination)` : name)).join(', ')}; default: all.
  --full           every suite with every combination; default: with three that have every version on both sides
  --destination V  only clusters of that version that are joined
  --source V       only sources of that version
  --shape S        only 1+3 (a controller and three brokers) or combined (three nodes that are both)
  --security P     only PLAINTEXT, or SASL_SSL (TLS, SCRAM and the StandardAuthorizer)
  --resume FILE    goes on with the results in that file: what passed does not run again, what runs is added
  --minutes N      begins nothing after that many minutes; 0 only shows the results
  --list           tells what would run
Exit code 0: everything that ran passed; 1: something failed.`

/** A suite of a crash loop takes minutes where the machine is slow. */
const SUITE_TIMEOUT_MS = 20 * 60_000

const { values, positionals } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    destination: { type: 'string' },
    source: { type: 'string' },
    shape: { type: 'string' },
    security: { type: 'string' },
    resume: { type: 'string' },
    minutes: { type: 'string' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})

const isAsked = (wanted: string | undefined, value: string) => wanted === undefined || wanted === value
const isChosen = ({ destination, shape, security, source }: Combination) =>
  isAsked(values.destination, destination) &&
  isAsked(values.source, source) &&
  isAsked(values.shape, shape) &&
  isAsked(values.security, security)
const unknown = positionals.filter(name => matrixSuites.every(suite => suite.name !== name))
const folder = await mkdtemp(join(tmpdir(), 'lockstep-matrix-'))
const file = values.resume ?? join(folder, 'results.jsonl')
const results = readResults(file)
const runs = plannedRuns({ isFull: values.full })
  .filter(({ suite }) => positionals.length === 0 || positionals.includes(suite.name))
  .map(({ suite, combinations }) => ({
    suite,
    combinations: combinations.filter(
      combination => isChosen(combination) && lastOf(results, suite.name, combination)?.passed !== true,
    ),
  }))
  .filter(({ combinations }) => combinations.length > 0)
if (values.help || unknown.length > 0) {
  console.log([...unknown.map(name => `there is no suite "${name}" in the matrix`), usage].join('\n'))
  process.exit(values.help ? 0 : 2)
}
if (values.list) {
  for (const { suite, combinations } of runs) console.log(`${suite.name}: ${combinations.map(nameOf).join(', ')}`)
  process.exit(0)
}
const missing = missingForSuites()
if (missing.length > 0) {
  console.log(`missing here: ${missing.join('; ')}`)
  process.exit(1)
}

console.log(`What each suite prints is in ${folder}, results are in ${file}`)
const endMs = performance.now() + Number(values.minutes ?? Number.POSITIVE_INFINITY) * 60_000
let failures = 0
for (const run of runs) {
  if (performance.now() >= endMs) break
  await runSuite(run)
}
console.log(`\n${tableOf(results)}`)
process.exit(failures > 0 ? 1 : 0)

async function runSuite({ suite, combinations }: PlannedRun): Promise<void> {
  const [combination] = combinations
  if (combination === undefined) return
  const { destination, shape, security } = combination
  const sources = combinations.map(({ source }) => source)
  const startedMs = performance.now()
  const child = spawn(
    process.execPath,
    ['--test', '--test-isolation=none', '--test-force-exit', `test/suites/${suite.name}.suite.ts`],
    {
      env: {
        ...process.env,
        LOCKSTEP_DESTINATION_VERSION: destination,
        LOCKSTEP_DESTINATION_SHAPE: shape,
        LOCKSTEP_DESTINATION_SECURITY: security,
        LOCKSTEP_SOURCE_VERSION: sources.join(','),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: SUITE_TIMEOUT_MS,
    },
  )
  const log = join(folder, `${suite.name}-${sources.join(',')}-${destination}-${shape}-${security}.log`)
  const unfinished = new Set(combinations)
  const told = (each: Combination, outcome: { passed: boolean; seconds: number }) => {
    unfinished.delete(each)
    record({ suite: suite.name, ...each, ...outcome, endedAt: new Date().toISOString() })
  }
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', line => {
      appendFileSync(log, `${line}\n`)
      for (const each of suite.isExhaustive ? unfinished : []) {
        const outcome = outcomeOf(each, line)
        if (outcome) told(each, outcome)
      }
    })
  const code = await new Promise<number | null>(resolve => child.on('close', resolve))
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  // Of an exhaustive suite these are sources that never had their turn.
  for (const each of unfinished) told(each, { passed: code === 0 && !suite.isExhaustive, seconds })
}

function record(result: MatrixResult): void {
  addResult(file, result)
  results.push(result)
  if (!result.passed) failures++
  console.log(`${nameOf(result)}: ${result.suite} ${result.passed ? 'passed' : 'FAILED'} ${result.seconds} s`)
}

/** What a line tells about the tests with one of several sources. */
function outcomeOf({ source }: Combination, line: string): { passed: boolean; seconds: number } | undefined {
  const [, mark, ms] = /^(✔|✖) from Kafka \S+ \(([\d.]+)ms\)/.exec(line) ?? []
  if (mark === undefined || !line.includes(`Kafka ${source} `)) return undefined
  return { passed: mark === '✔', seconds: Math.round(Number(ms) / 1000) }
}
