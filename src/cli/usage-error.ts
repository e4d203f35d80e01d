/** The command was called wrongly: exit code 2, the message says how to call it. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}
