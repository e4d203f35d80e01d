/** What may stand at the end of an unfinished command line, from the rows of the commands. Pure; called by answer. */
import { type CommandRow, type Completion, longName, type OptionRow, takesValue } from '../command-row.ts'
import { GLOBAL_OPTIONS, GROUPS } from '../command-table.ts'

export interface Candidate {
  readonly word: string
  readonly text: string
}

export interface Place {
  /** Fixed words that fit, whatever has been typed of the last word. */
  readonly candidates: readonly Candidate[]
  /** Names to be looked up besides. */
  readonly names: Completion | undefined
  /** Stands before each looked-up name: `--link=`. */
  readonly prefix: string
  /** Options that have been given, by long name, the last value of each. */
  readonly given: ReadonlyMap<string, string>
  /** Positional arguments before the last word. */
  readonly args: readonly string[]
}

/** Understands all words but the last, and says what the last may become. Unknown words are passed over. */
export function placeOf(rows: readonly CommandRow[], words: readonly string[]): Place {
  const last = words.at(-1) ?? ''
  const walk = walkWords(rows, words.slice(0, -1))
  const { row, args, given, pending, isRest } = walk
  const base = { given, args, prefix: '' }
  if (pending) return { ...base, ...valuesOf(pending.completes) }
  if (!isRest && last.startsWith('-')) {
    const assigned = optionAssigned(walk.options, last)
    if (!assigned) return { ...base, candidates: optionCandidates(walk.options, given), names: undefined }
    const { candidates, names } = valuesOf(assigned.completes)
    const prefix = `${longName(assigned)}=`
    return { ...base, prefix, names, candidates: candidates.map(({ word, text }) => ({ word: prefix + word, text })) }
  }
  if (!row) return { ...base, candidates: walk.words, names: undefined }
  const { completes = [], argument = '' } = row
  const takesMore = argument.includes('...') || args.length < argument.split(' ').filter(Boolean).length
  return { ...base, ...valuesOf(takesMore ? (completes[args.length] ?? completes.at(-1)) : undefined) }
}

function valuesOf(completes: Completion | undefined): Pick<Place, 'candidates' | 'names'> {
  if (completes === undefined || typeof completes === 'string') return { candidates: [], names: completes }
  return { candidates: completes.map(word => ({ word, text: '' })), names: undefined }
}

interface Walk {
  /** The command, as soon as its whole name has been read. */
  readonly row: CommandRow | undefined
  readonly options: readonly OptionRow[]
  /** Words that may follow the name so far. */
  readonly words: readonly Candidate[]
  readonly args: readonly string[]
  readonly given: ReadonlyMap<string, string>
  /** The option that the last word is the value of. */
  readonly pending: OptionRow | undefined
  /** Behind `--`, where nothing is an option. */
  readonly isRest: boolean
}

function walkWords(rows: readonly CommandRow[], words: readonly string[]): Walk {
  let path = ''
  let row: CommandRow | undefined
  let pending: OptionRow | undefined
  let isRest = false
  const args: string[] = []
  const given = new Map<string, string>()
  for (const word of words) {
    const options = [...(row?.options ?? []), ...GLOBAL_OPTIONS]
    if (pending) {
      given.set(longName(pending), word)
      pending = undefined
    } else if (!isRest && word === '--') isRest = true
    else if (!isRest && word.startsWith('-')) {
      const [name = '', value] = word.split(/=(.*)/s)
      const option = options.find(each => namesOf(each).includes(name))
      if (!option) continue
      if (value === undefined && takesValue(option)) pending = option
      else given.set(longName(option), value ?? '')
    } else if (row) args.push(word)
    else {
      path = `${path} ${word}`.trim()
      row = rows.find(each => each.path === path)
    }
  }
  const options = [...(row?.options ?? []), ...GLOBAL_OPTIONS, HELP]
  return { row, options, args, given, pending, isRest, words: row ? [] : nextWords(rows, path) }
}

const HELP: OptionRow = { flags: '--help', text: 'show help' }

const namesOf = ({ flags }: OptionRow): string[] => flags.split(/[ ,]+/).filter(part => part.startsWith('-'))

function optionAssigned(options: readonly OptionRow[], word: string): OptionRow | undefined {
  const at = word.indexOf('=')
  return at < 0 ? undefined : options.find(option => longName(option) === word.slice(0, at))
}

function optionCandidates(options: readonly OptionRow[], given: ReadonlyMap<string, string>): Candidate[] {
  return options
    .filter(option => option.repeatable || !given.has(longName(option)))
    .map(option => ({ word: longName(option), text: option.text }))
}

function nextWords(rows: readonly CommandRow[], path: string): Candidate[] {
  const found = new Map<string, string>()
  const prefix = path === '' ? '' : `${path} `
  for (const { path: whole, text } of rows) {
    if (!whole.startsWith(prefix)) continue
    const word = whole.slice(prefix.length).split(' ')[0] ?? ''
    const isWhole = prefix + word === whole
    found.set(word, isWhole ? text : (GROUPS[prefix + word] ?? ''))
  }
  return [...found].map(([word, text]) => ({ word, text }))
}
