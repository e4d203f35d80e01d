/** The house rules as a test: layering, cycles, budgets, names, heads of files. The tables here are the rules. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readSourceTree } from './source-tree.ts'

/** What each folder of src may import beside itself. A name with a slash allows only that part. ARCHITECTURE.md explains it. */
const LAYERS: Record<string, readonly string[]> = {
  core: [],
  protocol: ['core'],
  network: ['core', 'protocol'],
  log: ['core', 'protocol'],
  metadata: ['core', 'protocol'],
  replica: ['core', 'protocol', 'log', 'network', 'metadata'],
  controller: ['core', 'protocol', 'log', 'network', 'metadata'],
  coordinator: ['core', 'protocol', 'replica', 'metadata'],
  broker: ['core', 'protocol', 'network', 'log', 'metadata', 'replica', 'controller', 'coordinator'],
  link: ['core', 'protocol/schema', 'protocol/errors.ts', 'protocol/batches'],
  source: ['core', 'protocol', 'network', 'link/ports.ts'],
  destination: ['core', 'protocol', 'network', 'metadata', 'replica', 'coordinator', 'link/ports.ts'],
  rest: ['core', 'link/index.ts', 'link/engine-api.ts'],
  cli: ['core', 'protocol/batches', 'rest/schemas'],
  page: ['rest/schemas'],
  node: [
    'core',
    'protocol',
    'network',
    'log',
    'metadata',
    'replica',
    'controller',
    'coordinator',
    'broker',
    'link',
    'source',
    'destination',
    'rest',
  ],
  bin: ['core', 'node', 'cli'],
}

const FILE_LINES_MAX = 300
const FUNCTION_LINES_MAX = 70
const PARAMETERS_MAX = 3
/** Generated tables: long by nature. */
const GENERATED =
  /^src\/protocol\/(messages|metadata-records|coordinator-records|raft-records)\/|^src\/protocol\/api-registry\.ts$/
/** Over budget for now; this list may only shrink. */
const EXEMPT_FILES: readonly string[] = []
const EXEMPT_FUNCTIONS: readonly string[] = []
const FORBIDDEN_NAMES = /(^|[/-])(utils?|helpers?|common|misc|types|manager)([.-]|\/|$)/
/** Test doubles may be used by tests of other folders. */
const TEST_ONLY = /\.test\.ts$|\/fakes\//

const tree = readSourceTree(['src/**/*.{ts,tsx}', 'test/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts'])
const product = tree.filter(file => file.path.startsWith('src/'))
const handWritten = tree.filter(file => !GENERATED.test(file.path))

test('each folder imports only what the layer table allows', () => {
  const refused: string[] = []
  for (const file of product.filter(file => !TEST_ONLY.test(file.path))) {
    const folder = folderOf(file.path)
    const allowed = LAYERS[folder]
    if (!allowed) refused.push(`${file.path}: the folder src/${folder} is not in the layer table`)
    for (const target of file.localImports) {
      const fine =
        target.startsWith(`src/${folder}/`) ||
        allowed?.some(layer => target === `src/${layer}` || target.startsWith(`src/${layer}/`))
      if (!fine) refused.push(`${file.path} imports ${target}`)
    }
  }
  deepStrictEqual(refused, [])
})

test('there are no import cycles', () => {
  deepStrictEqual(importCycles(new Map(tree.map(file => [file.path, file.localImports]))), [])
})

test('only link/index.ts is a barrel', () => {
  deepStrictEqual(
    product
      .filter(file => file.exportsEverything)
      .map(file => file.path)
      .filter(path => path !== 'src/link/index.ts'),
    [],
  )
})

test('files stay within their budget', () => {
  const over = handWritten.filter(file => file.lines > FILE_LINES_MAX && !EXEMPT_FILES.includes(file.path))
  deepStrictEqual(
    over.map(file => `${file.path}: ${file.lines} lines`),
    [],
  )
})

test('functions stay within their budget', () => {
  const over = handWritten.flatMap(file =>
    file.functions
      .filter(fn => fn.lines > FUNCTION_LINES_MAX || fn.parameters > PARAMETERS_MAX)
      .filter(fn => !EXEMPT_FUNCTIONS.includes(`${file.path}:${fn.name}`))
      .map(fn => `${file.path}:${fn.line} ${fn.name}: ${fn.lines} lines, ${fn.parameters} parameters`),
  )
  deepStrictEqual(over, [])
})

test('the exemptions name only what still needs them', () => {
  const long = new Set(handWritten.filter(file => file.lines > FILE_LINES_MAX).map(file => file.path))
  deepStrictEqual(
    EXEMPT_FILES.filter(path => !long.has(path)),
    [],
  )
  const functions = new Set(
    handWritten.flatMap(file =>
      file.functions
        .filter(fn => fn.lines > FUNCTION_LINES_MAX || fn.parameters > PARAMETERS_MAX)
        .map(fn => `${file.path}:${fn.name}`),
    ),
  )
  deepStrictEqual(
    EXEMPT_FUNCTIONS.filter(name => !functions.has(name)),
    [],
  )
})

test('names say what a thing is', () => {
  deepStrictEqual(
    tree.map(file => file.path).filter(path => FORBIDDEN_NAMES.test(path)),
    [],
  )
})

test('every file opens with a sentence', () => {
  const silent = tree.filter(
    file => !/^(#!.*\n)?(\/\*\*|\/\/)/.test(file.text) && !firstDeclarationIsDocumented(file.text),
  )
  deepStrictEqual(
    silent.map(file => file.path),
    [],
  )
})

test('no test is focused and nothing is left behind', () => {
  const pattern = /\b(TODO|FIXME|XXX)\b|\.only\(|@ts-ignore|\bas any\b/
  const found = tree.filter(file => file.path !== 'test/checks/tidy.check.ts' && pattern.test(file.text))
  deepStrictEqual(
    found.map(file => file.path),
    [],
  )
})

test('lock files name no registry', () => {
  const locks = execFileSync('git', ['ls-files', '*package-lock.json'], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean)
  strictEqual(locks.length >= 1, true)
  deepStrictEqual(
    locks.filter(path => readFileSync(path, 'utf8').includes('"resolved"')),
    [],
  )
})

function folderOf(path: string): string {
  return path.split('/')[1] ?? ''
}

/** A file may start with its imports when its first declaration carries the sentence. */
function firstDeclarationIsDocumented(text: string): boolean {
  const body = text.replace(/^(import\b[^;]*?from\s+'[^']+'\n|import\s+'[^']+'\n|\s*\n)*/, '')
  return /^(\/\*\*|\/\/)/.test(body)
}

function importCycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const cycles = new Set<string>()
  const done = new Set<string>()
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path)
    if (at >= 0) cycles.add(trail.slice(at).sort().join(' <-> '))
    if (at >= 0 || done.has(path)) return
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path])
    done.add(path)
  }
  for (const path of graph.keys()) visit(path, [])
  return [...cycles]
}
