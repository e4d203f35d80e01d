/** The command line: commander's commands from the rows of the table, exit codes and error texts; called by bin/lockstep. */
import { Command, CommanderError, Option } from 'commander'
import { type CommandRow, longName, type OptionRow, takesValue } from './command-row.ts'
import { COMMANDS, GLOBAL_OPTIONS, GROUPS } from './command-table.ts'
import { type CliEnvironment, contextOf, type GlobalOptions } from './context.ts'
import { EXIT, exitCodeOf, failureText } from './failure.ts'

/** First word of an invocation by a completion script. */
const COMPLETE = '__complete'
/** Help is not wider than this. */
const HELP_COLUMNS_MAX = 100

/** The whole program; `more` are commands that are not clients of REST (server and demo). */
export class Program {
  readonly rows: readonly CommandRow[]
  readonly #environment: CliEnvironment
  readonly #version: string

  constructor(environment: CliEnvironment, version: string, more: readonly CommandRow[] = []) {
    this.#environment = environment
    this.#version = version
    this.rows = [...more, ...COMMANDS]
  }

  /** Parses and runs one invocation (`args` without node and script); resolves to the exit code and never rejects. */
  async run(args: readonly string[]): Promise<number> {
    // What a shell asks while somebody types is no command: its words may be unfinished.
    if (args[0] === COMPLETE) return this.#complete(args.slice(1))
    let code: number | undefined
    try {
      const program = this.#commander(async (row, command) => {
        const { args: given, options } = command
        const context = await contextOf(options as GlobalOptions, this.#environment)
        const action = await row.load()
        code = (await action(context, given, options as never)) ?? undefined
      })
      await program.parseAsync(this.#withoutBareOptions(args), { from: 'user' })
      return code ?? EXIT.ok
    } catch (error) {
      if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
      this.#environment.terminal.err(failureText(error))
      return exitCodeOf(error)
    }
  }

  async #complete(words: readonly string[]): Promise<number> {
    const { answerCompletion } = await import('./completion/answer.ts')
    await answerCompletion(this.rows, words, this.#environment)
    return EXIT.ok
  }

  #commander(act: (row: CommandRow, given: Given) => Promise<void>): Command {
    const { terminal } = this.#environment
    const columns = () => Math.min(HELP_COLUMNS_MAX, terminal.columns())
    const program = new Command('lockstep')
      .description('Cluster linking for Apache Kafka, without forking Kafka')
      .version(this.#version, '--version', 'show the version')
      .configureOutput({
        writeOut: terminal.out,
        writeErr: terminal.err,
        outputError: (text, write) => write(text.replace(/^error:/, 'Error:')),
        getOutHelpWidth: columns,
        getErrHelpWidth: columns,
        getOutHasColors: () => terminal.colours,
        getErrHasColors: () => terminal.colours,
      })
      .configureHelp({
        showGlobalOptions: true,
        minWidthToWrap: 20,
        optionTerm: option => option.flags.replace(/ \[(.*)\]$/, '[=$1]'),
        styleTitle: text => (terminal.colours ? `\u001b[1m${text}\u001b[22m` : text),
      })
      .exitOverride()
      .showHelpAfterError('(add --help for usage)')
    for (const option of GLOBAL_OPTIONS) program.addOption(commanderOption(option))
    const parents = new Map([['', program]])
    for (const row of this.rows) addCommand(parents, row, given => act(row, given))
    return program
  }

  /** An optional value follows with `=` only: without one, the next word is not taken for it. */
  #withoutBareOptions(args: readonly string[]): string[] {
    const optional = new Set(this.rows.flatMap(({ options = [] }) => options.filter(isOptionalValue).map(longName)))
    return args.map(arg => (optional.has(arg) ? `${arg}=` : arg))
  }
}

interface Given {
  readonly args: readonly string[]
  readonly options: object
}

const isOptionalValue = (option: OptionRow) => option.flags.includes('[') && !takesValue(option)

function commanderOption(row: OptionRow): Option {
  const option = new Option(row.flags, row.text)
  if (row.required) option.makeOptionMandatory()
  if (row.repeatable) option.argParser((value: string, before: readonly string[] = []) => [...before, value])
  return option
}

function addCommand(parents: Map<string, Command>, row: CommandRow, act: (given: Given) => Promise<void>): void {
  const words = row.path.split(' ')
  const parent = parentOf(parents, words.slice(0, -1))
  const command = parent
    .command([words.at(-1), row.argument ?? ''].join(' ').trim(), { hidden: row.hidden === true })
    .description(row.text)
  for (const option of row.options ?? []) command.addOption(commanderOption(option))
  const examples = (row.examples ?? []).map(example => `\n  lockstep ${example}`).join('')
  if (examples !== '') command.addHelpText('after', `\nExamples:${examples}`)
  command.action((...given: unknown[]) => {
    const args = given.slice(0, -2).flat() as (string | undefined)[]
    return act({ args: args.filter(arg => arg !== undefined), options: command.optsWithGlobals() })
  })
}

function parentOf(parents: Map<string, Command>, words: readonly string[]): Command {
  const path = words.join(' ')
  const known = parents.get(path)
  if (known) return known
  const group = parentOf(parents, words.slice(0, -1))
    .command(words.at(-1) ?? '')
    .description(GROUPS[path] ?? '')
  parents.set(path, group)
  return group
}
