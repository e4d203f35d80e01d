/** A command as a row: its name, what it takes, what it does. The command line, its completion and docs/generated/commands.md are made of these. */
import type { CommandContext } from './context.ts'

/** What may stand at a place: names that the node knows, or fixed words. */
export type Completion =
  | 'links'
  | 'mirrors'
  | 'source-topics'
  | 'topics'
  | 'tasks'
  | 'groups'
  | 'files'
  | readonly string[]

export interface OptionRow {
  /** As commander writes them: `--link <name>`; in brackets what may be left out, and then is given with `=`. */
  readonly flags: string
  readonly text: string
  readonly required?: boolean
  /** May be given several times; the action gets a list. */
  readonly repeatable?: boolean
  readonly completes?: Completion
}

/** Carries a command out; `options` has the long names in camelCase. May resolve to an exit code. */
export type CommandAction<Options = never> = (
  context: CommandContext,
  args: readonly string[],
  options: Options,
  // biome-ignore lint/suspicious/noConfusingVoidType: most actions give nothing back
) => Promise<number | void>

export interface CommandRow {
  /** All words of its name: `link configuration update`. */
  readonly path: string
  /** One sentence without a full stop. */
  readonly text: string
  /** Positional arguments as commander writes them: `<link>`, `<topic...>`. */
  readonly argument?: string
  /** What each positional argument may be; the last one counts for those that follow. */
  readonly completes?: readonly Completion[]
  readonly options?: readonly OptionRow[]
  /** Invocations worth showing, without `lockstep`. */
  readonly examples?: readonly string[]
  /** Not in help and docs. */
  readonly hidden?: boolean
  /** Loads what carries it out; nothing of it is loaded for other commands. */
  readonly load: () => Promise<CommandAction>
}

/** The long name of an option: `--link`. */
export const longName = ({ flags }: OptionRow): string => /--[\w-]+/.exec(flags)?.[0] ?? flags

/** Whether the option is followed by a value in the next word. */
export const takesValue = ({ flags }: OptionRow): boolean => flags.includes('<')
