/** Reads the TypeScript sources with a real parser and answers what the tidy test asks: imports, exports, sizes. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseSync } from 'oxc-parser'

export interface SourceFunction {
  readonly name: string
  readonly line: number
  readonly lines: number
  readonly parameters: number
}

export interface SourceFile {
  readonly path: string
  readonly text: string
  readonly lines: number
  /** Paths inside the repository, types included. */
  readonly localImports: readonly string[]
  /** Package names. */
  readonly packageImports: readonly string[]
  readonly functions: readonly SourceFunction[]
  readonly exportsEverything: boolean
}

/** Parses every file that matches; a syntax error throws with its place. */
export function readSourceTree(patterns: readonly string[]): SourceFile[] {
  return globSync([...patterns], { exclude: ['**/node_modules/**'] })
    .sort()
    .map(readSourceFile)
}

function readSourceFile(path: string): SourceFile {
  const text = readFileSync(path, 'utf8')
  const parsed = parseSync(path, text)
  const problem = parsed.errors[0]
  if (problem) throw new SyntaxError(`${path}: ${problem.message}`)
  const requests = [
    ...parsed.module.staticImports.map(found => found.moduleRequest.value),
    ...parsed.module.staticExports.flatMap(found => found.entries.map(entry => entry.moduleRequest?.value ?? '')),
    ...parsed.module.dynamicImports.map(found =>
      unquoted(text.slice(found.moduleRequest.start, found.moduleRequest.end)),
    ),
    ...Array.from(text.matchAll(/\bimport\('([^']+)'\)\./g), match => match[1] ?? ''),
  ].filter(Boolean)
  return {
    path,
    text,
    lines: lineCount(text),
    localImports: requests.filter(isLocal).map(request => normalize(join(dirname(path), request))),
    packageImports: requests.filter(request => !isLocal(request) && !request.startsWith('node:')),
    functions: functionsOf(parsed.program, text),
    exportsEverything: parsed.module.staticExports.some(found =>
      found.entries.some(entry => entry.importName.kind === 'All'),
    ),
  }
}

const isLocal = (request: string) => request.startsWith('.')
const unquoted = (literal: string) => literal.replace(/^['"`]|['"`]$/g, '')
const lineCount = (text: string) => text.split('\n').length - (text.endsWith('\n') ? 1 : 0)

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

function functionsOf(program: unknown, text: string): SourceFunction[] {
  const found: SourceFunction[] = []
  const visit = (node: Node, name: string): void => {
    if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type) && node['body']) {
      const own = nameOf(node['id']) ?? name
      found.push({
        name: own,
        line: lineCount(text.slice(0, node.start)) + 1,
        lines: lineCount(text.slice(node.start, node.end)),
        parameters: Array.isArray(node['params']) ? node['params'].length : 0,
      })
    }
    const label = nameOf(node['key']) ?? nameOf(node['id']) ?? name
    for (const [key, value] of Object.entries(node)) {
      if (key === 'parent') continue
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, label)
    }
  }
  if (isNode(program)) visit(program, '(module)')
  return found
}

function nameOf(node: unknown): string | undefined {
  return isNode(node) && typeof node['name'] === 'string' ? node['name'] : undefined
}
