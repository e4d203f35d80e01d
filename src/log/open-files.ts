/** Bounds how many files are open at once over all logs of a node; the files of node-file-system.ts stand in its list. */

/** A file with a descriptor that can be given back and taken again; the list's own fields are written by OpenFiles alone. */
export interface Reopenable {
  /** Nothing runs on it. */
  readonly idle: boolean
  /** Gives the descriptor back. */
  closeDescriptor(): void
  listed: boolean
  older: Reopenable | undefined
  newer: Reopenable | undefined
}

/** Least recently used first; files in use are never closed, so the bound can be passed while more are in use. */
export class OpenFiles {
  readonly #max: number
  // A list of its own: a Set whose first entries were deleted is slow to begin with.
  #oldest: Reopenable | undefined
  #newest: Reopenable | undefined
  #count = 0

  constructor(max: number) {
    this.#max = max
  }

  /** The file is open and was used just now. */
  touch(file: Reopenable): void {
    if (file === this.#newest) return
    this.forget(file)
    this.#append(file)
    if (this.#count > this.#max) this.closeOne()
  }

  /** Closes the idle file that was used longest ago; false if all are in use. Those in use on the way count as used just now. */
  closeOne(): boolean {
    for (let tries = this.#count; tries > 0; tries--) {
      const candidate = this.#oldest
      if (!candidate) return false
      this.forget(candidate)
      if (candidate.idle) {
        candidate.closeDescriptor()
        return true
      }
      this.#append(candidate)
    }
    return false
  }

  forget(file: Reopenable): void {
    if (!file.listed) return
    const { older, newer } = file
    if (older) older.newer = newer
    else this.#oldest = newer
    if (newer) newer.older = older
    else this.#newest = older
    file.listed = false
    file.older = undefined
    file.newer = undefined
    this.#count--
  }

  #append(file: Reopenable): void {
    file.listed = true
    file.older = this.#newest
    if (this.#newest) this.#newest.newer = file
    this.#newest = file
    this.#oldest ??= file
    this.#count++
  }
}
