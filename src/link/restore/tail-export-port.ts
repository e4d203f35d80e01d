/** Port: where the records go that a restore cuts off, if somebody wants to keep them. Implemented by the composition root. */

/** What is exported: one partition from an offset on, by a restore that began at a time. */
export interface ExportedTail {
  readonly topic: string
  readonly partition: number
  readonly baseOffset: number
  readonly timeMs: number
}

export interface TailExports {
  /** Where a tail is, or would be. */
  pathOf(tail: ExportedTail): string
  /** A file of whole record batches as they were in the log; one that is there already is replaced when this one is closed. */
  create(tail: ExportedTail): Promise<TailExport>
}

export interface TailExport {
  append(batches: Buffer): Promise<void>
  /** Resolves when everything is on disk; to be called once. */
  close(): Promise<void>
}
