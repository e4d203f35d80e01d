/** Every claim of docs/behaviour.md names tests that exist, or says that it is for later. */
import { deepStrictEqual, ok } from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

interface Claim {
  readonly number: string
  readonly evidence: string
}

const text = readFileSync('docs/behaviour.md', 'utf8')
const claims: Claim[] = [...text.matchAll(/^\| (\d+\.\d+) \| .+ \| (.*) \|$/gm)].map(
  ([, number = '', evidence = '']) => ({ number, evidence }),
)
/** Lines of tables that are neither their head nor a claim. */
const malformed = text
  .split('\n')
  .filter(line => line.startsWith('|') && !/^\| (?:\| claim \||--- \||\d+\.\d+ \| .+ \| .* \|$)/.test(line))

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
  if (/^later; .{10}/.test(evidence)) return undefined
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

test('every claim of docs/behaviour.md names its tests, or is marked as later work', () => {
  ok(claims.length > 50, `${claims.length} claims are read`)
  deepStrictEqual(malformed, [])
  deepStrictEqual(
    claims.flatMap(claim => problemOf(claim) ?? []),
    [],
  )
})

test('no number of a claim is used twice', () => {
  const numbers = claims.map(({ number }) => number)
  deepStrictEqual(
    numbers.filter((number, index) => numbers.indexOf(number) !== index),
    [],
  )
})
