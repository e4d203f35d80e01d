/** Kafka's `ssl.principal.mapping.rules`: from the subject of a client's certificate to the name of a principal. Listeners and REST use it. */

/** No rule applies, or a rule cannot be read. */
export class MappingError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'MappingError'
  }
}

interface Rule {
  /** Matches whole subjects. */
  readonly whole: RegExp
  /** Finds what is replaced: as in Java every match, even an empty one behind the first. */
  readonly part: RegExp
  readonly replacement: string
  readonly change: 'L' | 'U' | ''
}

const ONE_RULE = String.raw`(DEFAULT)|RULE:((?:\\.|[^\\/])*)\/((?:\\.|[^\\/])*)\/([LU]?)`

/**
 * `RULE:pattern/replacement/[LU]` and `DEFAULT`, separated by commas; the first rule whose pattern matches the whole subject
 * decides. Throws MappingError for rules that cannot be read; the function it returns throws it if no rule applies.
 */
export function principalMapping(text: string): (subject: string) => string {
  const rules = splitRules(text.trim() || 'DEFAULT')
  return subject => {
    for (const rule of rules) {
      const name = rule === 'DEFAULT' ? subject : apply(rule, subject)
      if (name !== undefined) return name
    }
    throw new MappingError(`no rule of ssl.principal.mapping.rules applies to ${subject}`)
  }
}

function splitRules(text: string): ('DEFAULT' | Rule)[] {
  const rules: ('DEFAULT' | Rule)[] = []
  const next = new RegExp(String.raw`\s*(?:${ONE_RULE}|)\s*(?:,\s*|$)`, 'y')
  while (next.lastIndex < text.length) {
    const start = next.lastIndex
    const found = next.exec(text)
    if (!found) throw new MappingError(`the rule "${text.slice(start).trim()}" cannot be read`)
    const [, isDefault, pattern, replacement = '', change] = found
    if (isDefault) rules.push('DEFAULT')
    else if (pattern !== undefined)
      rules.push({ ...patternsOf(pattern), replacement, change: change as Rule['change'] })
  }
  return rules
}

/** Java's patterns, of which the usual ones mean the same here; Java lets more characters be escaped. */
function patternsOf(text: string): Pick<Rule, 'whole' | 'part'> {
  for (const flags of ['u', '']) {
    try {
      return { whole: new RegExp(`^(?:${text})$`, flags), part: new RegExp(text, `g${flags}`) }
    } catch (error) {
      if (flags === '') throw new MappingError(`the pattern "${text}" cannot be read: ${String(error)}`)
    }
  }
  throw new MappingError(`the pattern "${text}" cannot be read`)
}

function apply({ whole, part, replacement, change }: Rule, subject: string): string | undefined {
  if (!whole.test(subject)) return undefined
  let name = ''
  let end = 0
  for (const found of subject.matchAll(part)) {
    name += subject.slice(end, found.index) + filled(replacement, found)
    end = found.index + found[0].length
  }
  name += subject.slice(end)
  if (change === 'L') return name.toLowerCase()
  return change === 'U' ? name.toUpperCase() : name
}

/** `$1` is a group, of as many digits as there are groups for; a number without a group stands for itself. `\x` is x. */
function filled(replacement: string, groups: RegExpExecArray): string {
  const count = groups.length - 1
  return replacement.replace(/\\(.)|\$(\d+)/gs, (whole, literal: string | undefined, digits: string) => {
    if (literal !== undefined) return literal
    for (let length = digits.length; length > 0; length--) {
      const number = Number(digits.slice(0, length))
      if (number <= count) return (groups[number] ?? '') + digits.slice(length)
    }
    return whole
  })
}
