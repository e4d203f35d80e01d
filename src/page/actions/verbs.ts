/** How verbs are called and explained to people; what they are and when they are allowed is the node's. Pure. */
import type { AlterMirrorsAnswer } from '../../rest/schemas/mirrors.ts'

export type AlterRow = AlterMirrorsAnswer['data'][number]

interface VerbText {
  readonly label: string
  /** What it does, before somebody does it. */
  readonly what: string
}

const TEXTS: Readonly<Record<string, VerbText>> = {
  promote: {
    label: 'Promote',
    what: 'Each topic becomes an ordinary, writable one as soon as it has everything that its source has. Nothing is lost. It stops following its source for good.',
  },
  failover: {
    label: 'Fail over',
    what: 'Each topic becomes an ordinary, writable one now, with what has arrived. What has not arrived is missing here. It stops following its source for good.',
  },
  pause: {
    label: 'Pause',
    what: 'Stops fetching from the source until it is resumed. Readers here keep what there is.',
  },
  resume: { label: 'Resume', what: 'Fetches again, from where the mirror ends.' },
  'reverse-and-start-mirror': {
    label: 'Reverse',
    what: 'The mirror becomes writable once it has everything, and the old source follows it from then on.',
  },
  'reverse-and-pause-mirror': {
    label: 'Reverse, paused',
    what: 'The mirror becomes writable once it has everything; the old source is made its mirror, paused.',
  },
  'truncate-and-restore': {
    label: 'Restore',
    what: 'Cuts off what the other cluster does not have, and follows it again as a mirror.',
  },
  delete: {
    label: 'Delete',
    what: 'Deletes the topic with all its data here; its mirror ends. The source is not touched.',
  },
}

/** A verb that is newer than this page is shown by its own name. */
export const textOf = (verb: string): VerbText => TEXTS[verb] ?? { label: verb, what: '' }

export const FLAG_TEXTS = {
  together: 'All together: none becomes writable before all can',
  keep_retention: 'Keep retention switched off, so that nothing old is deleted soon',
  paused: 'Restore into a paused mirror',
  export_divergent: 'Export what is cut off first',
} as const

export type Flag = keyof typeof FLAG_TEXTS

export const isRefused = (row: AlterRow): boolean => (row.error_code ?? 0) !== 0

export interface Toll {
  readonly topics: number
  readonly refused: readonly AlterRow[]
  /** Records of the source that are not here, as last seen. */
  readonly missing: number
  /** Partitions of which it is not known. */
  readonly unknown: number
  /** How long ago the worst partition had all that its source had. */
  readonly behindMs: number
  readonly transactions: number
  readonly groupsBehind: readonly string[]
  readonly groupsInUse: readonly string[]
  readonly retentionBytes: number
  readonly deletedAtSource: number
  readonly truncated: number
  readonly overlappingIds: number
  readonly warnings: readonly string[]
}

/** What the answer to a dry run adds up to. */
export function tollOf(rows: readonly AlterRow[]): Toll {
  const accepted = rows.filter(row => !isRefused(row))
  const sum = (of: (row: AlterRow) => number) => accepted.reduce((total, row) => total + of(row), 0)
  const union = (of: (row: AlterRow) => readonly string[]) => [...new Set(accepted.flatMap(of))].sort()
  const partitions = accepted.flatMap(row => row.mirror_lags)
  const lags = partitions.map(({ lag }) => lag)
  return {
    topics: accepted.length,
    refused: rows.filter(isRefused),
    missing: lags.reduce<number>((total, lag) => total + (lag ?? 0), 0),
    unknown: lags.filter(lag => lag === null).length,
    behindMs: Math.max(0, ...partitions.map(({ lag_ms: ms }) => ms ?? 0)),
    transactions: sum(row => row.open_transactions),
    groupsBehind: union(row => row.groups_behind),
    groupsInUse: union(row => row.groups_in_use),
    retentionBytes: sum(row => row.retention_bytes_at_risk ?? 0),
    deletedAtSource: sum(row => row.partitions.reduce((total, part) => total + (part.deleted_at_source ?? 0), 0)),
    truncated: sum(row => row.messages_truncated ?? 0),
    overlappingIds: sum(row => row.overlapping_producer_ids.length),
    warnings: union(row => row.warnings),
  }
}
