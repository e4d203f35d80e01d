/** How severe a line must be to be written, for the whole node and for single components; the node's logger asks, and administrators change it through the configs of broker loggers. */

/** Least severe first; `silent` writes nothing. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof logLevels)[number]

/** The logger of everything that has no level of its own. */
export const ROOT_LOGGER = 'root'

/** Lasts as long as the process. */
export class LoggerLevels {
  readonly #levels: Map<string, LogLevel>
  readonly #components = new Set<string>()

  constructor(root: LogLevel) {
    this.#levels = new Map([[ROOT_LOGGER, root]])
  }

  /** A component that writes lines; known from then on. */
  note(component: string): void {
    this.#components.add(component)
  }

  /** `root` and every component that has been noted. */
  get names(): readonly string[] {
    return [ROOT_LOGGER, ...[...this.#components].sort()]
  }

  /** The level that decides for this logger: its own, or that of `root`. */
  levelOf(name: string = ROOT_LOGGER): LogLevel {
    return this.#levels.get(name) ?? this.#levels.get(ROOT_LOGGER) ?? 'info'
  }

  /** Undefined = that of `root` again; `root` itself always has one. */
  set(name: string, level: LogLevel | undefined): void {
    if (level !== undefined) this.#levels.set(name, level)
    else if (name !== ROOT_LOGGER) this.#levels.delete(name)
  }

  /** Is a line of that severity written? */
  writes(severity: LogLevel, name?: string): boolean {
    return logLevels.indexOf(severity) >= logLevels.indexOf(this.levelOf(name))
  }
}
