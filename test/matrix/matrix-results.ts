// What the matrix has shown so far: a file of JSON lines that invocations add to. Used by scripts/test-matrix.ts.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { allCombinations, type Combination, matrixSuites, nameOf } from './combinations.ts'

/** One suite with one combination, run once. */
export interface MatrixResult extends Combination {
  readonly suite: string
  readonly passed: boolean
  readonly seconds: number
  /** ISO 8601. */
  readonly endedAt: string
}

/** All that the file tells; later lines about the same come after earlier ones. */
export const readResults = (file: string): MatrixResult[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(line => line !== '')
        .map(line => JSON.parse(line))
    : []

export const addResult = (file: string, result: MatrixResult): void =>
  appendFileSync(file, `${JSON.stringify(result)}\n`)

/** Whether the last run of it passed; undefined = it did not run. */
export const lastOf = (
  results: readonly MatrixResult[],
  suite: string,
  combination: Combination,
): MatrixResult | undefined =>
  results.findLast(result => result.suite === suite && nameOf(result) === nameOf(combination))

/** Markdown: a row for each combination that ran, a column for each suite, with the last run of both. */
export function tableOf(results: readonly MatrixResult[]): string {
  const suites = matrixSuites.map(({ name }) => name).filter(name => results.some(({ suite }) => suite === name))
  const rows = allCombinations
    .filter(combination => results.some(result => nameOf(result) === nameOf(combination)))
    .map(combination => [nameOf(combination), ...suites.map(suite => cellOf(lastOf(results, suite, combination)))])
  const header = ['source → destination', ...suites]
  return [header, header.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

const cellOf = (result: MatrixResult | undefined): string =>
  result === undefined ? '' : `${result.passed ? '' : 'FAILED '}${result.seconds} s`
