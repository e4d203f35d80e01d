/** The plan of the matrix of joined destinations, and whether what CI runs of it holds every value that it varies. */
import { deepStrictEqual, ok } from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { allCombinations, type Combination, matrixSuites, nameOf, plannedRuns } from '../matrix/combinations.ts'

const columns = ['source', 'destination', 'shape', 'security'] as const

/** `column=value` for every value, and for every pair of values of different columns. */
const valuesIn = (combinations: readonly Combination[]) =>
  new Set(combinations.flatMap(combination => columns.map(column => `${column}=${combination[column]}`)))
const pairsIn = (combinations: readonly Combination[]) =>
  new Set(
    combinations.flatMap(combination =>
      columns.flatMap((left, index) =>
        columns.slice(index + 1).map(right => `${left}=${combination[left]} ${right}=${combination[right]}`),
      ),
    ),
  )

const runs = plannedRuns({ isFull: false })
const runsOf = (wanted: string) => runs.filter(({ suite }) => suite.name === wanted).flatMap(run => run.combinations)

test('the byte-exact suite runs with every combination, any two values meet in others', () => {
  const named = (combinations: readonly Combination[]) => combinations.map(nameOf).sort()
  for (const { name } of matrixSuites.filter(suite => suite.isExhaustive))
    deepStrictEqual(named(runsOf(name)), named(allCombinations))
  const others = runs.filter(({ suite }) => !suite.isExhaustive).flatMap(run => run.combinations)
  deepStrictEqual([...pairsIn(others)].sort(), [...pairsIn(allCombinations)].sort())
})

test('every suite runs with every version on both sides, or as far as it has something to say', () => {
  const versions = (combinations: readonly Combination[]) =>
    [...valuesIn(combinations)].filter(value => /^(source|destination)/.test(value)).sort()
  for (const suite of matrixSuites)
    deepStrictEqual(
      versions(runsOf(suite.name)),
      versions(allCombinations.filter(combination => !suite.unfit?.(combination))),
      suite.name,
    )
})

test('the suites of CI hold every value of the matrix, and a joined cluster as source', () => {
  const ofCi = globSync('test/suites/*.suite.ts').flatMap(path => {
    const text = readFileSync(path, 'utf8')
    const suite = /await import\('\.\/(.*)\.suite\.ts'\)/.exec(text)?.[1] ?? ''
    const said = (name: string) => new RegExp(`'LOCKSTEP_${name}'\\] = '(.*)'`).exec(text)?.[1]
    const destination = said('DESTINATION_VERSION')
    if (destination === undefined || matrixSuites.every(({ name }) => name !== suite)) return []
    const shape = said('DESTINATION_SHAPE') ?? '1+2'
    const security = said('DESTINATION_SECURITY') ?? 'PLAINTEXT'
    return [
      { suite, source: said('SOURCE_VERSION') ?? '4.3.1', destination, shape, security } as Combination & {
        suite: string
      },
    ]
  })
  const held = valuesIn(ofCi)
  deepStrictEqual(
    [...valuesIn(allCombinations)].filter(value => !held.has(value)),
    [],
  )
  ok(ofCi.some(({ suite }) => suite === 'shapes'))
})
