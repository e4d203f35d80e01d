/** A node's configuration cannot be used; every problem found is listed, so that one start shows all of them. */
export class SettingsError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(
      problems.length === 1
        ? problems[0]
        : `${problems.length} problems:\n${problems.map(text => `  - ${text}`).join('\n')}`,
    )
    this.name = 'SettingsError'
    this.problems = problems
  }
}
