/** Puts lines on the terminal in place of the ones before; where there is no terminal, the demo prints plain lines instead. Called by the live demos. */

/** Where the demo writes. */
export interface DemoIo {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Standard output is a terminal. */
  readonly interactive: boolean
  /** Width of the terminal, asked anew for each drawing. */
  readonly columns: () => number
  /** Height of the terminal; 24 where it is not known. */
  readonly rows?: () => number
}

const ESC = '\u001b['
const HIDE_CURSOR = `${ESC}?25l`
const SHOW_CURSOR = `${ESC}?25h`
const CLEAR_LINE = `${ESC}K`
const CLEAR_BELOW = `${ESC}J`
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with the control character ESC
const STYLES = /\u001b\[[0-9;]*m/g

/** A block of lines at the bottom of a terminal that is redrawn in place. Lines must not wrap when they are drawn. */
export class LiveView {
  readonly #io: Pick<DemoIo, 'out' | 'columns'>
  #lines: readonly string[] = []
  #begun = false

  constructor(io: Pick<DemoIo, 'out' | 'columns'>) {
    this.#io = io
  }

  /** Replaces the block. */
  draw(lines: readonly string[]): void {
    const start = this.#begun ? '' : HIDE_CURSOR
    this.#begun = true
    this.#io.out(`${start}${this.#home()}${lines.map(line => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`)
    this.#lines = lines
  }

  /** Prints above the block, for good. */
  print(text: string): void {
    const lines = this.#lines
    this.#io.out(`${this.#home()}${CLEAR_BELOW}${text}\n`)
    this.#lines = []
    if (this.#begun) this.draw(lines)
  }

  /** Leaves the block where it is and gives the cursor back; what the terminal echoed of Ctrl-C goes. */
  end(): void {
    if (this.#begun) this.#io.out(`\r${CLEAR_LINE}${SHOW_CURSOR}`)
    this.#begun = false
    this.#lines = []
  }

  /** Back to the first line of the block, counting the wraps of a terminal that has become narrower since. */
  #home(): string {
    const columns = Math.max(1, this.#io.columns())
    const taken = this.#lines.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(line.replace(STYLES, '').length / columns)),
      0,
    )
    return taken === 0 ? '' : `\r${ESC}${taken}A`
  }
}
