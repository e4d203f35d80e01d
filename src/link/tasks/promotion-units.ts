/** Which mirrors that are being promoted stop together, and what keeps a unit back; asked by the promotion task. */
import type { MirrorRecord } from '../state-records/mirror-record.ts'

export interface PromotionUnit {
  /** PENDING_STOPPED, not decided yet. */
  readonly records: readonly MirrorRecord[]
  /** Another topic of the unit that cannot stop now, as a reason for people; undefined = none. */
  readonly blockedBy: string | undefined
}

/** A promote that was asked for and is not decided yet. */
export const isPromoted = (record: MirrorRecord): boolean =>
  record.state === 'PENDING_STOPPED' && record.stopping === undefined

/** Mirrors that name each other, directly or through others, are one unit. Pure. */
export function promotionUnits(mirrors: readonly MirrorRecord[]): PromotionUnit[] {
  const byName = new Map(mirrors.map(record => [record.mirrorTopic, record]))
  const named = neighbours(mirrors)
  const units: PromotionUnit[] = []
  const seen = new Set<string>()
  for (const record of mirrors.filter(isPromoted)) {
    if (seen.has(record.mirrorTopic)) continue
    const names = connected(record.mirrorTopic, named)
    for (const name of names) seen.add(name)
    const members = [...names].flatMap(name => byName.get(name) ?? [])
    const blocking = members.find(member => !isPromoted(member) && !hasStopped(member))
    units.push({
      records: members.filter(isPromoted),
      blockedBy: blocking && `'${blocking.mirrorTopic}', which is to stop together with it, is ${blocking.state}`,
    })
  }
  return units
}

const hasStopped = (record: MirrorRecord): boolean => record.state === 'STOPPED' || record.stopping !== undefined

/** Whom each names, and who names it and is being promoted. */
function neighbours(mirrors: readonly MirrorRecord[]): ReadonlyMap<string, ReadonlySet<string>> {
  const named = new Map<string, Set<string>>()
  const join = (one: string, other: string) => named.set(one, (named.get(one) ?? new Set()).add(other))
  for (const record of mirrors)
    for (const other of record.together) {
      join(record.mirrorTopic, other)
      if (isPromoted(record)) join(other, record.mirrorTopic)
    }
  return named
}

function connected(first: string, named: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const names = new Set([first])
  // A set is walked in the order in which it grows.
  for (const name of names) for (const other of named.get(name) ?? []) names.add(other)
  return names
}
