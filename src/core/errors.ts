/** Error rows: an expected failure is a row of a table, declared once by the area that raises it. */

/** One row per kind of failure; REST status, Kafka code, CLI exit code and retry behaviour are read from here, never re-decided. */
export interface ErrorRow<D> {
  /** HTTP status of the REST answer. */
  readonly status: number
  /** `error_code` of the REST body (rest-and-cli: 40002, 40403, ...). */
  readonly restCode: number
  /** Kafka's error name, as in `protocol/errors.ts`. */
  readonly kafka: string
  readonly retriable: boolean
  /** What happened, to what. */
  readonly message: (detail: D) => string
  /** What the reader can do about it. */
  readonly hint?: (detail: D) => string
}

/** Any table of rows. */
// biome-ignore lint/suspicious/noExplicitAny: the detail type differs per row and is inferred where the table is declared
export type ErrorTable = Record<string, ErrorRow<any>>

/** An expected failure: somebody or something outside this process caused it. A broken invariant is an AssertionError instead. */
export class OperationalError extends Error {
  readonly code: string
  readonly row: ErrorRow<unknown>
  readonly hint: string | undefined

  constructor(
    code: string,
    row: ErrorRow<unknown>,
    text: { message: string; hint: string | undefined; cause?: unknown },
  ) {
    super(text.message, text.cause === undefined ? undefined : { cause: text.cause })
    this.name = 'OperationalError'
    this.code = code
    this.row = row
    this.hint = text.hint
  }

  get retriable(): boolean {
    return this.row.retriable
  }
}

type Detail<R> = R extends { message: (detail: infer D) => string } ? D : never

/** Makes the constructor function of one table: `const linkError = errorFactory(linkErrors); throw linkError('LINK_NOT_FOUND', { link })`. */
export function errorFactory<T extends ErrorTable>(table: T) {
  return <C extends keyof T & string>(code: C, detail: Detail<T[C]>, cause?: unknown): OperationalError => {
    const row = table[code]
    if (!row) throw new TypeError(`no error row ${code}`)
    return new OperationalError(code, row, { message: row.message(detail), hint: row.hint?.(detail), cause })
  }
}

/** The text of anything thrown, for logs and reasons. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
