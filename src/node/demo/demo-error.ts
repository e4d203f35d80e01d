/** The demo cannot go on, for a reason that a person can read; run-demo prints it and ends with exit code 1. */
export class DemoError extends Error {
  /** What the reader can do about it. */
  readonly hint: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.name = 'DemoError'
    this.hint = hint
  }
}

/** A node refused a request with a reason: nothing of ours is broken. */
export class DemoRefusal extends DemoError {}
