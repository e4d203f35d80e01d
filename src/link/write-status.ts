/** The engine's answer to the write gate of the destination; part of the ports. */

/** What the engine answers to the write gate: may ordinary clients write a topic? */
export type WriteStatus =
  /** `isStaged`: a copy is being made here of the source of a reverse, which others lead. */
  | { readonly kind: 'writable'; readonly isStaged?: true }
  /** Not known yet: the client shall try again. */
  | { readonly kind: 'unknown'; readonly message: string }
  | {
      readonly kind: 'mirror'
      /** Names topic and link, and what to do. */
      readonly message: string
      /** The source topic of a reverse: it still takes transaction markers. */
      readonly takesMarkers: boolean
      /** Topic configs that the link copies; undefined = all, since it cannot be told. */
      readonly copiedConfigs: ReadonlySet<string> | undefined
    }
