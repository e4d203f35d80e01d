/** Our documents: every block says what it is, every command of ours in them exists, and every link leads somewhere. */
import { deepStrictEqual, ok } from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { RUN_NODES } from '../../src/bin/node-commands.ts'
import type { CommandRow, OptionRow } from '../../src/cli/command-row.ts'
import { COMMANDS, GLOBAL_OPTIONS } from '../../src/cli/command-table.ts'
import { blocksOf, documents, proseOf } from '../documents/command-blocks.ts'

const LANGUAGES = ['sh', 'json', 'properties', 'yaml', 'text', 'mermaid']
const FLAGS = ['runbook', 'package', 'not-run', 'background', 'fails']
/** Words that begin a command; a block with one of them is `sh`, so that it is run, or says that it is not. */
const COMMAND = /^(\$ )?(\.\/)?(lockstep|kafka-[a-z-]+|npm|npx|kcat|curl|export|git|cd|mkdir|systemctl|kubectl)(\.sh)? /

test('every block says what it is, and commands are where the suite finds them', () => {
  const wrong = documents().flatMap(file =>
    blocksOf(file).flatMap(({ line, language, flags, text }) => {
      const at = `${file}:${line}`
      if (!LANGUAGES.includes(language)) return [`${at}: the language "${language}" is none of ${LANGUAGES.join(', ')}`]
      const unknown = flags.filter(flag => !FLAGS.includes(flag)).map(flag => `${at}: unknown flag ${flag}`)
      if (language !== 'sh' && COMMAND.test(text.trim())) unknown.push(`${at}: commands in a block of ${language}`)
      return unknown
    }),
  )
  deepStrictEqual(wrong, [])
})

const rows: readonly CommandRow[] = [...COMMANDS, ...RUN_NODES]

/** Command lines of ours: in blocks, and as inline code with more than one word. */
function commandLines(file: string): string[] {
  const inBlocks = blocksOf(file)
    .filter(({ language }) => language === 'sh')
    .flatMap(block => block.text.replaceAll('\\\n', ' ').split('\n'))
  const inline = [...proseOf(file).matchAll(/`((?:\.\/)?lockstep [^`]+)`/g)].map(([, line = '']) => line)
  return [...inBlocks, ...inline].flatMap(line => {
    const found = /(?:^|[;|(] ?|<\()(?:\.\/)?lockstep (?!-)([a-z][^;|)#]*)/.exec(line)?.[1]
    return found === undefined ? [] : [found.trim()]
  })
}

function problemOf(line: string): string | undefined {
  const words = line.replace(/'[^']*'|"[^"]*"/g, 'X').split(/\s+/)
  const row = rows.find(({ path }) => path === words.slice(0, path.split(' ').length).join(' '))
  const isGroup = rows.some(({ path }) => path.startsWith(`${words.join(' ')} `))
  if (!row) return isGroup ? undefined : `no command "${line}"`
  const names = [...(row.options ?? []), ...GLOBAL_OPTIONS].flatMap(({ flags }: OptionRow) =>
    flags.split(/[ ,]+/).filter(part => part.startsWith('-')),
  )
  const given = words.filter(word => /^--?[a-z]/.test(word)).map(word => word.split('=')[0] ?? '')
  const unknown = given.find(name => !names.includes(name) && name !== '--help')
  return unknown === undefined ? undefined : `no option ${unknown} of "${row.path}"`
}

test('every command of ours in the documents exists, with its options', () => {
  const lines = documents().flatMap(file => commandLines(file).map(line => ({ file, line })))
  ok(lines.length > 100, `${lines.length} commands are found`)
  deepStrictEqual(
    lines.flatMap(({ file, line }) => problemOf(line)?.replace(/^/, `${file}: `) ?? []),
    [],
  )
})

/** As GitHub makes anchors of headings. */
function anchorsOf(file: string): Set<string> {
  const headings = [...proseOf(file).matchAll(/^#+ (.*)$/gm)]
  return new Set(
    headings.map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-'),
    ),
  )
}

test('every link between the documents leads somewhere', () => {
  const files = [...documents(), 'CHANGELOG.md', ...globSync(['docs/decisions/*.md', 'docs/generated/*.md'])]
  const broken = files.flatMap(file => {
    return [...proseOf(file).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].flatMap(
      ([, path = '', anchor]) => {
        const target = path === '' ? file : join(dirname(file), path)
        if (!existsSync(target)) return [`${file}: ${path} does not exist`]
        if (anchor === undefined || !target.endsWith('.md') || anchorsOf(target).has(anchor)) return []
        return [`${file}: ${target} has no heading for #${anchor}`]
      },
    )
  })
  deepStrictEqual(broken, [])
})
