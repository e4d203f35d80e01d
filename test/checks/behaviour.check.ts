/** Every claim of docs/behaviour.md and fault of docs/known-faults.md names tests that exist, or says why there is none. */
import { deepStrictEqual, ok } from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

interface Claim {
  readonly number: string
  readonly evidence: string
}

const ROW = /^\| ([0-9A-N]+\.\d+) \| .+ \| (.*) \|$/
const HEAD = /^\| (?:\| (?:claim|fault) \| tests|--- \| --- \| ---) \|$/

/** The rows of a document's tables; a line of a table that is neither head nor row is an error. */
function claimsOf(path: string): Claim[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines
    .filter(line => line.startsWith('|') && !HEAD.test(line))
    .map(line => {
      const [, number = line, evidence = ''] = ROW.exec(line) ?? []
      return { number, evidence }
    })
}

const sources = globSync(['src/**/*.test.ts', 'test/suites/*.ts', 'test/scenarios/*.ts']).map(path => ({
  path,
  text: readFileSync(path, 'utf8'),
}))

/** The title as it stands in the source, between quotes of any kind. */
function hasTest(source: string, title: string): boolean {
  const quoted = ["'", '"', '`'].map(quote => `${quote}${title.replaceAll("'", quote === "'" ? "\\'" : "'")}${quote}`)
  return quoted.some(written => source.includes(written))
}

function problemOf({ number, evidence }: Claim): string | undefined {
  if (/^(?:later|cannot happen); .{10}/.test(evidence)) return undefined
  if (evidence === '') return `${number} has no test and is not marked as later work`
  for (const part of evidence.split('<br>')) {
    const [, file = '', title = ''] = /^`([\w./-]+)` › (.+)$/.exec(part) ?? []
    if (title === '') return `${number}: not "file › title": ${part}`
    const named = sources.filter(({ path }) => path.endsWith(`/${file}`))
    if (named.length !== 1) return `${number}: ${named.length} files are called ${file}`
    if (!named.some(source => hasTest(source.text, title))) return `${number}: no test in ${file} is called "${title}"`
  }
  return undefined
}

for (const path of ['docs/behaviour.md', 'docs/known-faults.md']) {
  test(`every row of ${path} names its tests, or says why there is none`, () => {
    const claims = claimsOf(path)
    ok(claims.length > 30, `${claims.length} rows are read`)
    deepStrictEqual(
      claims.flatMap(claim => problemOf(claim) ?? []),
      [],
    )
  })

  test(`no number of ${path} is used twice`, () => {
    const numbers = claimsOf(path).map(({ number }) => number)
    deepStrictEqual(
      numbers.filter((number, index) => numbers.indexOf(number) !== index),
      [],
    )
  })
}
