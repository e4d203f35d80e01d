/** What clients have to know of each verb of AlterMirrors: the command line and the page read it. Which verbs a mirror takes now is in its `allowed_actions`. */

/** Statuses that ask for nothing more: the mirror follows its source, or would. */
const following = ['ACTIVE', 'LINK_PAUSED', 'LINK_FAILED', 'SOURCE_UNAVAILABLE'] as const

export interface MirrorVerbFacts {
  /** Statuses in which the verb has done its work. FAILED ends the waiting, too. */
  readonly reached: readonly string[]
  /** It has done its work only once the counterpart follows, and `reversal.read_only_ms` is known. */
  readonly endsAtPeer?: boolean
  /** Something can be lost by it for good. */
  readonly losesData: boolean
  /** Flags of the body that it takes. */
  readonly flags: readonly ('together' | 'keep_retention' | 'paused' | 'export_divergent')[]
}

export const mirrorVerbFacts = {
  promote: { reached: ['STOPPED'], losesData: false, flags: ['together'] },
  failover: { reached: ['STOPPED'], losesData: true, flags: ['together', 'keep_retention'] },
  pause: { reached: ['PAUSED', 'PENDING_SYNCHRONIZE'], losesData: false, flags: [] },
  resume: { reached: [...following, 'PENDING_SYNCHRONIZE'], losesData: false, flags: [] },
  'reverse-and-start-mirror': { reached: ['STOPPED'], endsAtPeer: true, losesData: false, flags: ['together'] },
  'reverse-and-pause-mirror': { reached: ['STOPPED'], endsAtPeer: true, losesData: false, flags: ['together'] },
  'truncate-and-restore': { reached: [...following, 'PAUSED'], losesData: true, flags: ['paused', 'export_divergent'] },
} satisfies Record<string, MirrorVerbFacts>

/** Of a verb that `allowed_actions` names; undefined = newer than this table, or `delete`. */
export const factsOfVerb = (verb: string): MirrorVerbFacts | undefined =>
  (mirrorVerbFacts as Readonly<Record<string, MirrorVerbFacts>>)[verb]
