/** Reads Kafka's JAAS texts (`sasl.jaas.config`): login modules with options; used for listeners, for links and by their checks. */

export interface JaasEntry {
  /** Class name as it stands in the text. */
  readonly module: string
  readonly options: ReadonlyMap<string, string>
}

/** What is wrong with a JAAS text. Values of options are never in the message: they are passwords. */
export class JaasError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'JaasError'
  }
}

const FLAGS: ReadonlySet<string> = new Set(['REQUIRED', 'REQUISITE', 'SUFFICIENT', 'OPTIONAL'])

/** The one entry of a text of the form `module flag (name=value)*;`. Throws JaasError, also for several entries. */
export function parseJaas(text: string): JaasEntry {
  const tokens = tokensOf(text)
  const entries: JaasEntry[] = []
  while (tokens.length > 0) entries.push(takeEntry(tokens))
  const [entry, ...more] = entries
  if (!entry) throw new JaasError('names no login module')
  if (more.length > 0) throw new JaasError(`names ${entries.length} login modules instead of one`)
  return entry
}

/** Text of words and quoted strings; numbers and other characters have none, as in Kafka's tokenizer. */
interface Token {
  readonly text: string | undefined
  /** The character of a token that is a single one. */
  readonly sign?: string
}

function takeEntry(tokens: Token[]): JaasEntry {
  const module = tokens.shift()?.text
  if (module === undefined) throw new JaasError('does not begin with the class name of a login module')
  const flag = tokens.shift()?.text
  if (flag === undefined || !FLAGS.has(flag.toUpperCase()))
    throw new JaasError('needs one of required, requisite, sufficient, optional behind the class name')
  const options = new Map<string, string>()
  for (let token = tokens.shift(); token?.sign !== ';'; token = tokens.shift()) {
    if (token === undefined) throw new JaasError('does not end with a semicolon')
    const name = token.text ?? ''
    const value = tokens.shift()?.sign === '=' ? tokens.shift()?.text : undefined
    if (value === undefined) throw new JaasError(`has no value for the option ${shownName(name)}; quote values`)
    options.set(name, value)
  }
  return { module, options }
}

/** A value whose quote is missing can end up where a name is expected. */
const shownName = (name: string): string => (/^[A-Za-z_][\w.-]{0,63}$/.test(name) ? `"${name}"` : 'behind the last one')

const WORD = /[A-Za-z_$\u00a0-\uffff-][\w$.\u00a0-\uffff-]*/y
const NUMBER = /[\d.]+/y
/** Slashes outside quotes begin comments. */
const SKIPPED = /(?:[^!-\uffff]|\/\*[\s\S]*?(?:\*\/|$)|\/[^\r\n]*)+/y

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  const taken = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    at += found?.length ?? 0
    return found
  }
  for (;;) {
    taken(SKIPPED)
    const first = text[at]
    if (first === undefined) return tokens
    if (first === '"' || first === "'") {
      const quoted = unquote(text, at)
      tokens.push({ text: quoted.text })
      at = quoted.end
      continue
    }
    const word = taken(WORD)
    if (word !== undefined) tokens.push({ text: word })
    else if (taken(NUMBER) !== undefined) tokens.push({ text: undefined })
    else {
      tokens.push({ text: undefined, sign: first })
      at++
    }
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** The string whose opening quote is at `start`; it ends at the same quote or with the line. */
function unquote(text: string, start: number): { text: string; end: number } {
  const quote = text[start]
  let value = ''
  for (let at = start + 1; ; at++) {
    const char = text[at]
    if (char === quote) return { text: value, end: at + 1 }
    if (char === undefined || char === '\n' || char === '\r') return { text: value, end: at }
    if (char !== '\\') {
      value += char
      continue
    }
    const octal = /^(?:[0-3]?[0-7]?[0-7])/.exec(text.slice(at + 1, at + 4))?.[0]
    if (octal) {
      value += String.fromCharCode(Number.parseInt(octal, 8))
      at += octal.length
    } else {
      at++
      const escaped = text[at] ?? ''
      value += ESCAPES[escaped] ?? escaped
    }
  }
}
