/** docs/generated/commands.md: every command of the command line with its arguments and options, from the table of commands. */
import { RUN_NODES } from '../../src/bin/node-commands.ts'
import type { CommandRow, OptionRow } from '../../src/cli/command-row.ts'
import { COMMANDS, GLOBAL_OPTIONS } from '../../src/cli/command-table.ts'
import { code, type Page, plain, table } from './markdown.ts'

/** The page. */
export function commandsPage(): Page {
  const rows = [...COMMANDS, ...RUN_NODES]
  return {
    name: 'commands.md',
    title: 'Commands',
    sources: ['src/cli/command-table.ts', 'src/bin/node-commands.ts'],
    body: [
      'All but `server`, `demo`, `user hash` and `completion` ask a node over REST. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 some of several failed, or differences were found, 4 the node cannot be reached, 130 waiting was ended with Ctrl-C.',
      table(
        ['command', 'does'],
        rows.map(row => [`[${code(row.path)}](#${anchor(row)})`, plain(row.text)]),
      ),
      '## Options of every command',
      optionTable(GLOBAL_OPTIONS),
      ...rows.flatMap(commandParts),
    ].join('\n\n'),
  }
}

const heading = ({ path }: CommandRow) => `lockstep ${path}`
const anchor = (row: CommandRow) => heading(row).replaceAll(' ', '-')

function commandParts(row: CommandRow): string[] {
  const { path, argument = '', text, options = [], examples = [] } = row
  const usage = ['lockstep', path, argument, options.length > 0 ? '[options]' : ''].filter(Boolean).join(' ')
  return [
    `## ${heading(row)}`,
    `${plain(text[0]?.toUpperCase() + text.slice(1))}.`,
    ['```', usage, '```'].join('\n'),
    ...(options.length > 0 ? [optionTable(options)] : []),
    ...(examples.length > 0 ? [['```', ...examples.map(each => `lockstep ${each}`), '```'].join('\n')] : []),
  ]
}

const optionTable = (options: readonly OptionRow[]) =>
  table(
    ['option', 'meaning'],
    options.map(option => [
      code(option.flags.replace(/ \[(.*)\]$/, '[=$1]')),
      `${plain(option.text)}${option.required ? ' (required)' : ''}`,
    ]),
  )
