/** `npm run test:matrix [suite…]`: runs the suites of mirrors against joined Kafka clusters of every version and shape, and prints who passed. Needs Java and Maven; all of it takes hours. */
import { spawn } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Combination, combinations, type MatrixSuite, matrixSuites, nameOf } from '../test/matrix/combinations.ts'
import { missingForSuites } from '../test/requirements.ts'

const usage = `usage: npm run test:matrix -- [suite…] [options]
Suites: ${matrixSuites.map(({ name }) => name).join(', ')}; default: all.
  --destination V  only clusters of that version that are joined
  --source V       only sources of that version
  --shape S        only 1+3 (a controller and three brokers) or combined (three nodes that are both)
  --security P     only PLAINTEXT, or SASL_SSL (TLS, SCRAM and the StandardAuthorizer)
  --list           tells what would run
Exit code 0: everything passed; 1: something failed.`

/** A suite of a crash loop takes minutes where the machine is slow. */
const SUITE_TIMEOUT_MS = 20 * 60_000

const { values, positionals } = parseArgs({
  options: {
    destination: { type: 'string' },
    source: { type: 'string' },
    shape: { type: 'string' },
    security: { type: 'string' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})

const isAsked = (wanted: string | undefined, value: string) => wanted === undefined || wanted === value
const chosen = combinations.filter(
  ({ destination, shape, security, source }) =>
    isAsked(values.destination, destination) &&
    isAsked(values.source, source) &&
    isAsked(values.shape, shape) &&
    isAsked(values.security, security),
)
const suites = matrixSuites.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const unknown = positionals.filter(name => matrixSuites.every(suite => suite.name !== name))
if (values.help || unknown.length > 0 || chosen.length === 0) {
  console.log([...unknown.map(name => `there is no suite "${name}" in the matrix`), usage].join('\n'))
  process.exit(values.help ? 0 : 2)
}
if (values.list) {
  for (const combination of chosen)
    console.log(
      `${nameOf(combination)}: ${suites.filter(suite => !suite.unfit?.(combination)).map(({ name }) => name)}`,
    )
  process.exit(0)
}
const missing = missingForSuites()
if (missing.length > 0) {
  console.log(`missing here: ${missing.join('; ')}`)
  process.exit(1)
}

const folder = await mkdtemp(join(tmpdir(), 'lockstep-matrix-'))
console.log(`What each suite prints is in ${folder}`)
const rows = new Map<Combination, string[]>()
let failures = 0
for (const combination of chosen) {
  const cells: string[] = []
  rows.set(combination, cells)
  for (const suite of suites) {
    const cell = suite.unfit?.(combination) ?? (await runSuite(suite, combination))
    cells.push(cell)
    console.log(`${nameOf(combination)}: ${suite.name} ${cell}`)
  }
}
const header = ['source → destination', ...suites.map(({ name }) => name)]
console.log()
for (const line of [header, header.map(() => '---'), ...[...rows].map(([row, cells]) => [nameOf(row), ...cells])])
  console.log(`| ${line.join(' | ')} |`)
process.exit(failures > 0 ? 1 : 0)

/** Resolves to what the table says about it. */
async function runSuite({ name }: MatrixSuite, combination: Combination): Promise<string> {
  const { destination, shape, security, source } = combination
  const startedMs = performance.now()
  const child = spawn(
    process.execPath,
    ['--test', '--test-isolation=none', '--test-force-exit', `test/suites/${name}.suite.ts`],
    {
      env: {
        ...process.env,
        LOCKSTEP_DESTINATION_VERSION: destination,
        LOCKSTEP_DESTINATION_SHAPE: shape,
        LOCKSTEP_DESTINATION_SECURITY: security,
        LOCKSTEP_SOURCE_VERSION: source,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: SUITE_TIMEOUT_MS,
    },
  )
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => output.push(chunk))
  const code = await new Promise<number | null>(resolve => child.on('close', resolve))
  await writeFile(join(folder, `${source}-${destination}-${shape}-${security}-${name}.log`), Buffer.concat(output))
  if (code !== 0) failures++
  return `${code === 0 ? 'passed' : 'FAILED'} ${Math.round((performance.now() - startedMs) / 1000)} s`
}
