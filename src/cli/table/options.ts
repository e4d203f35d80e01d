/** Options that several commands have; used by the tables beside. */
import type { OptionRow } from '../command-row.ts'

export const FORCE: OptionRow = { flags: '--force', text: 'do not ask' }
export const DRY_RUN: OptionRow = { flags: '--dry-run', text: 'show what would happen and change nothing' }

export const CONFIG_FORM = '<k=v,...|file>'

/** `--config`, with what it sets. */
export const config = (what: string): OptionRow => ({
  flags: `--config ${CONFIG_FORM}`,
  text: `${what}, or a .properties file; repeatable`,
  repeatable: true,
  completes: 'files',
})

export const CONFIG_FILE: OptionRow = {
  flags: '--config-file <file>',
  text: 'a .properties file; repeatable',
  repeatable: true,
  completes: 'files',
}

export const RESET: OptionRow = {
  flags: '--reset <name>',
  text: 'set a property back to its default; repeatable',
  repeatable: true,
}

/** The link that is meant, which must be named. */
export const link = (text: string): OptionRow => ({ flags: '--link <name>', text, required: true, completes: 'links' })
/** The link that is meant, which may be left out. */
export const maybeLink = (text: string): OptionRow => ({ flags: '--link <name>', text, completes: 'links' })
