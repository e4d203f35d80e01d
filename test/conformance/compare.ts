// Runs scenarios against both nodes and compares what they saw; the frame of the conformance suites.
import { deepStrictEqual } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { repositoryRoot } from '../cache.ts'
import { skipWithout, type Tool } from '../requirements.ts'
import { intendedDifferences } from './differences.ts'
import type { Scenario } from './scenario.ts'
import type { Side } from './side.ts'
import { Transcript } from './transcript.ts'
import { startWorld, type World } from './world.ts'

export interface SuiteOptions {
  /** What it needs beside Java. */
  readonly tools?: readonly Tool[]
  /** Properties of both nodes. */
  readonly properties?: Readonly<Record<string, string>>
}

/** Registers one test for each scenario; both nodes start before the first and end after the last. */
export function compareScenarios(scenarios: readonly Scenario[], { tools = [], properties }: SuiteOptions = {}): void {
  const skip = skipWithout('java', ...tools)
  let world: World | undefined
  before(async () => {
    if (skip === false) world = await startWorld(properties)
  })
  after(() => world?.close())

  test('every scenario has a name of its own', () => {
    const names = scenarios.map(({ name }) => name)
    deepStrictEqual(names, [...new Set(names)])
  })

  test('every listed difference has its row in docs/skipped-features.md', async () => {
    const text = await readFile(join(repositoryRoot, 'docs/skipped-features.md'), 'utf8')
    const rows = new Set(Object.values(intendedDifferences))
    deepStrictEqual(
      [...rows].filter(row => !text.includes(`\n| ${row} |`)),
      [],
    )
  })

  for (const scenario of scenarios) {
    test(`${scenario.name}: as Kafka 4.3.1`, { skip }, async t => {
      if (world === undefined) throw new Error('the nodes did not start')
      const [kafka, lockstep] = world.sides
      const [expected, found] = await Promise.all([runAt(kafka, scenario), runAt(lockstep, scenario)])
      if (process.env['LOCKSTEP_CONFORMANCE_SHOW'] === '1')
        for (const [step, result] of expected) t.diagnostic(`${step}: ${result}`)
      deepStrictEqual(surprises(scenario.name, expected, found), [])
    })
  }
}

/** What the scenario saw, up to the step that did not come to pass. */
async function runAt(side: Side, scenario: Scenario): Promise<ReadonlyMap<string, string>> {
  const seen = new Transcript()
  try {
    await scenario.run(side, seen)
  } catch (error) {
    // What goes wrong at Kafka is a fault of the scenario.
    if (side.name === 'kafka') throw error
    seen.note('the scenario ends early', String(error))
  }
  return seen.steps
}

interface Surprise {
  readonly step: string
  readonly kafka: string | undefined
  readonly lockstep: string | undefined
}

/** Steps that differ though they are not listed, or are listed as different and are equal. */
function surprises(
  scenario: string,
  kafka: ReadonlyMap<string, string>,
  lockstep: ReadonlyMap<string, string>,
): Surprise[] {
  const names = [...new Set([...kafka.keys(), ...lockstep.keys()])]
  return names.flatMap(name => {
    const step = `${scenario} › ${name}`
    const pair = { step, kafka: kafka.get(name), lockstep: lockstep.get(name) }
    return (pair.kafka === pair.lockstep) === Object.hasOwn(intendedDifferences, step) ? [pair] : []
  })
}
