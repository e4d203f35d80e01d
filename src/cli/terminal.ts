/** Where the command line reads and writes: what commands may know of the terminal. Replaced in tests; the real one is system-terminal.ts. */

export interface Terminal {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Somebody can be asked. */
  readonly interactive: boolean
  /** Standard output and error are screens, on which what was written can be written over. */
  readonly outIsScreen: boolean
  readonly errIsScreen: boolean
  readonly colours: boolean
  /** Width of a line; Infinity where it is not a screen. */
  readonly columns: () => number
  readonly rows: () => number
  /** Asks a question and resolves to the line that was typed. */
  readonly ask: (question: string) => Promise<string>
  /** Aborted when nobody reads standard output any more. */
  readonly outClosed: AbortSignal
  /** Runs `work`; its signal is aborted by Ctrl-C, which otherwise ends the process. */
  readonly interruptible: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>
  /** Calls `listener` for each key, by name ("q", "up", "space"), until the returned function is called. */
  readonly onKeys: (listener: (key: string) => void) => () => void
  readonly onResize: (listener: () => void) => () => void
}
