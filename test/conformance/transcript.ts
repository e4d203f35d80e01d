// What one scenario saw at one node, step by step, in a form that can be compared; filled by scenarios, compared by compare.ts.
import { eventually } from '../eventually.ts'
import { JavaError } from '../java/driver.ts'

/** A step's result as text; differences are listed by `scenario › step`. */
export class Transcript {
  readonly #steps = new Map<string, string>()

  /** Runs a step and notes what it gives, or what it throws, by class; a name may be used once. */
  async step(name: string, action: () => Promise<unknown>): Promise<void> {
    let seen: unknown
    try {
      seen = await action()
    } catch (error) {
      seen = failureText(error)
    }
    this.note(name, seen)
  }

  /** A step that is repeated until it gives what is accepted, for what takes effect a moment after its answer. */
  async settles<T>(name: string, action: () => Promise<T>, accepted: (seen: T) => boolean): Promise<void> {
    let last: T | undefined
    const attempt = async () => {
      last = await action()
      if (!accepted(last)) throw new Error('not yet')
    }
    await this.step(name, () =>
      eventually(attempt, { timeoutMs: 120_000 }).then(
        () => last,
        () => last ?? 'never',
      ),
    )
  }

  /** Notes what was found otherwise. */
  note(name: string, seen: unknown): void {
    if (this.#steps.has(name)) throw new Error(`two steps are named '${name}'`)
    this.#steps.set(name, typeof seen === 'string' ? seen : (JSON.stringify(seen, sortedKeys) ?? 'undefined'))
  }

  /** The steps in order. */
  get steps(): ReadonlyMap<string, string> {
    return this.#steps
  }
}

/** A failure by what a program could tell it by: a Java class and that of its cause, or a client's code. */
function failureText(error: unknown): string {
  if (error instanceof JavaError) {
    const cause = /^Caused by: (?:[\w$]+\.)*([\w$]+)/m.exec(error.message)?.[1]
    return `throws ${error.javaClass}${cause === undefined || cause === error.javaClass ? '' : ` of ${cause}`}`
  }
  if (!(error instanceof Error)) return `throws ${String(error)}`
  const { type, code } = error as Error & { type?: unknown; code?: unknown }
  return `throws ${String(apiError(error) ?? type ?? code ?? `${error.name}: ${error.message}`)}`
}

/** The broker's error inside those that @platformatic/kafka wraps around it. */
function apiError(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined
  const { apiId, errors = [] } = error as Error & { apiId?: unknown; errors?: unknown[] }
  return apiId ?? [...errors, error.cause].map(apiError).find(id => id !== undefined)
}

/** The order in which a client puts fields says nothing. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
