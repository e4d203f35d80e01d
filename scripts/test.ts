/** The one test runner, called by `npm test` and `npm run check`: static checks, unit tests, then suites, with one closing summary. */
import { globSync } from 'node:fs'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import { missingForSuites } from '../test/requirements.ts'

type RunOptions = NonNullable<Parameters<typeof run>[0]>

/** Suites are processes; two at a time keep a two-core machine busy without starving real brokers. */
const SUITE_CONCURRENCY = 2
const SUITE_TIMEOUT_MS = 8 * 60_000
/** A unit test that takes this long hangs. */
const UNIT_TIMEOUT_MS = 60_000

/** What the process of each suite says at its end; figures that a test tells are shown. */
const COUNT = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/

const { values, positionals } = parseArgs({
  options: { only: { type: 'string' }, concurrency: { type: 'string' } },
  allowPositionals: true,
})
const chosen = (files: string[]) =>
  files.filter(file => positionals.length === 0 || positionals.some(part => file.includes(part))).sort()

const stages: Record<string, RunOptions> = {
  check: { files: chosen(globSync('test/checks/*.check.ts')), isolation: 'none', timeout: 2 * UNIT_TIMEOUT_MS },
  unit: {
    files: chosen(globSync(['src/**/*.test.ts', 'test/*.test.ts', 'test/unit/**/*.test.ts'])),
    isolation: 'none',
  },
  suites: {
    files: chosen(globSync('test/suites/*.suite.ts')),
    isolation: 'process',
    concurrency: Number(values.concurrency ?? SUITE_CONCURRENCY),
    timeout: SUITE_TIMEOUT_MS,
    // A process that a failed test left behind would keep its suite, and the whole run, from ever ending.
    forceExit: true,
  },
}
if (values.only !== undefined && !(values.only in stages)) {
  process.stderr.write(`--only must be one of ${Object.keys(stages).join(', ')}, not "${values.only}"\n`)
  process.exit(2)
}

const startedMs = performance.now()
const totals = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 }
const reporter = new spec()
reporter.pipe(process.stdout)

for (const [name, options] of Object.entries(stages)) {
  if ((values.only ?? name) !== name || options.files?.length === 0) continue
  for await (const event of run(options)) {
    if (event.type === 'test:summary') {
      // Each process gives its own summary too; the one of the whole stage names no file.
      if (event.data.file === undefined) addCounts(event.data.counts)
    } else if (!(event.type === 'test:diagnostic' && COUNT.test(event.data.message))) reporter.write(event)
  }
}

for (const missing of missingForSuites()) diagnostic(`skipped ${missing}`)
for (const [label, count] of [
  ['tests', totals.tests],
  ['suites', totals.suites],
  ['pass', totals.passed],
  ['fail', totals.failed],
  ['cancelled', totals.cancelled],
  ['skipped', totals.skipped],
  ['todo', totals.todo],
  ['duration_ms', Math.round(performance.now() - startedMs)],
] as const)
  diagnostic(`${label} ${count}`)
reporter.end()
await new Promise(resolve => reporter.on('close', resolve).on('end', resolve))
process.stdout.write('', () => process.exit(totals.failed + totals.cancelled > 0 || totals.tests === 0 ? 1 : 0))

function addCounts(counts: Record<string, number>): void {
  for (const key of Object.keys(totals) as (keyof typeof totals)[]) totals[key] += counts[key] ?? 0
}

function diagnostic(message: string): void {
  reporter.write({ type: 'test:diagnostic', data: { nesting: 0, message, level: 'info', file: undefined } })
}
