/** How an invocation ends badly: kinds of failures, their exit codes and what is printed. Called by the program. */
import { messageOf } from '../core/errors.ts'
import { NodeUnreachable, RestFailure } from './rest-failure.ts'
import { UsageError } from './usage-error.ts'

/** 0 ok, 1 failed, 2 usage, 3 partly failed or differences found, 4 cannot reach the node, 130 ended by Ctrl-C. */
export const EXIT = { ok: 0, failed: 1, usage: 2, partly: 3, unreachable: 4, interrupted: 130 } as const

/** Some of several things failed: what was printed says which; exit code 3. */
export class PartlyFailed extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'PartlyFailed'
  }
}

/** Somebody pressed Ctrl-C while the command waited; the message says what goes on without it. */
export class Interrupted extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Interrupted'
  }
}

/** The exit code that stands for `error`. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage
  if (error instanceof PartlyFailed) return EXIT.partly
  if (error instanceof Interrupted) return EXIT.interrupted
  return error instanceof NodeUnreachable ? EXIT.unreachable : EXIT.failed
}

/** What standard error gets: what happened, and what can be done about it. */
export function failureText(error: unknown): string {
  if (error instanceof Interrupted) return `${error.message}\n`
  const message = messageOf(error)
  const link = /^The cluster link doesn't exist: '(.*)'\.$/.exec(message)?.[1]
  const text = `Error: ${link === undefined ? message : `cluster link "${link}" not found`}\n`
  const hint = error instanceof RestFailure || error instanceof NodeUnreachable ? error.hint : undefined
  return hint === undefined ? text : `${text}Hint: ${hint}\n`
}
