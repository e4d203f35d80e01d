/** The ACLs of an image by the resources they are about: finds those that apply to a name without looking at the others. Kept up to date with the image by `security-changes.ts`, read by the authorizer. */
import { type AclImage, AclPattern, WILDCARD } from './acl.ts'
import { PersistentMap, type PersistentMapEditor } from './persistent-map.ts'

/** All ACLs of one pattern, by principal as it stands in them. */
export interface PatternAcls {
  readonly resourceType: number
  readonly patternType: number
  readonly name: string
  readonly byPrincipal: ReadonlyMap<string, readonly AclImage[]>
}

/** How many patterns of each length have the PREFIXED type, per resource type. */
type PrefixLengths = ReadonlyMap<number, ReadonlyMap<number, number>>

const patternKey = ({ resourceType, patternType }: Omit<PatternAcls, 'name' | 'byPrincipal'>, name: string): string =>
  `${resourceType}:${patternType}:${name}`

/** Immutable; an editor gives changed copies that share what is not touched. */
export class AclIndex {
  static readonly empty = new AclIndex(PersistentMap.empty(), new Map())

  readonly #patterns: PersistentMap<string, PatternAcls>
  readonly #prefixLengths: PrefixLengths

  private constructor(patterns: PersistentMap<string, PatternAcls>, prefixLengths: PrefixLengths) {
    this.#patterns = patterns
    this.#prefixLengths = prefixLengths
  }

  /** Patterns that cover this name of a resource, each with at least one ACL: its own, the wildcard, prefixes. */
  *covering(resourceType: number, name: string): Generator<PatternAcls> {
    const literal = { resourceType, patternType: AclPattern.LITERAL }
    const own = this.#patterns.get(patternKey(literal, name))
    if (own) yield own
    const wildcard = name === WILDCARD ? undefined : this.#patterns.get(patternKey(literal, WILDCARD))
    if (wildcard) yield wildcard
    const lengths = this.#prefixLengths.get(resourceType)
    if (!lengths) return
    const prefixed = { resourceType, patternType: AclPattern.PREFIXED }
    for (const length of lengths.keys()) {
      if (length > name.length) continue
      const found = this.#patterns.get(patternKey(prefixed, name.slice(0, length)))
      if (found) yield found
    }
  }

  /** Every pattern of a type of resource, in no order. */
  *ofType(resourceType: number): Generator<PatternAcls> {
    for (const acls of this.#patterns.values()) if (acls.resourceType === resourceType) yield acls
  }

  edit(): AclIndexEditor {
    return new AclIndexEditor(this.#patterns.edit(), this.#prefixLengths, (patterns, lengths) => {
      return new AclIndex(patterns, lengths)
    })
  }
}

/** Collects changes to one index; `finish` gives the new one. Used by one owner, then dropped. */
export class AclIndexEditor {
  readonly #patterns: PersistentMapEditor<string, PatternAcls>
  readonly #prefixLengths: Map<number, Map<number, number>>
  readonly #build: (patterns: PersistentMap<string, PatternAcls>, lengths: PrefixLengths) => AclIndex
  /** Maps by principal that this editor made, and may change. */
  readonly #owned = new Map<string, Map<string, readonly AclImage[]>>()

  constructor(
    patterns: PersistentMapEditor<string, PatternAcls>,
    prefixLengths: PrefixLengths,
    build: (patterns: PersistentMap<string, PatternAcls>, lengths: PrefixLengths) => AclIndex,
  ) {
    this.#patterns = patterns
    this.#prefixLengths = new Map(Array.from(prefixLengths, ([type, lengths]) => [type, new Map(lengths)]))
    this.#build = build
  }

  add(acl: AclImage): void {
    const byPrincipal = this.#own(acl)
    if (byPrincipal.size === 0) this.#countPrefix(acl, 1)
    byPrincipal.set(acl.principal, [...(byPrincipal.get(acl.principal) ?? []), acl])
  }

  /** An ACL that was added, by its id. */
  remove(acl: AclImage): void {
    const byPrincipal = this.#own(acl)
    const left = byPrincipal.get(acl.principal)?.filter(({ id }) => id !== acl.id) ?? []
    if (left.length > 0) byPrincipal.set(acl.principal, left)
    else byPrincipal.delete(acl.principal)
    if (byPrincipal.size > 0) return
    const key = patternKey(acl, acl.resourceName)
    this.#patterns.delete(key)
    this.#owned.delete(key)
    this.#countPrefix(acl, -1)
  }

  finish(): AclIndex {
    return this.#build(this.#patterns.finish(), this.#prefixLengths)
  }

  #own({ resourceType, patternType, resourceName: name }: AclImage): Map<string, readonly AclImage[]> {
    const key = patternKey({ resourceType, patternType }, name)
    const owned = this.#owned.get(key)
    if (owned) return owned
    const byPrincipal = new Map(this.#patterns.get(key)?.byPrincipal)
    this.#owned.set(key, byPrincipal)
    this.#patterns.set(key, { resourceType, patternType, name, byPrincipal })
    return byPrincipal
  }

  #countPrefix({ resourceType, patternType, resourceName }: AclImage, change: 1 | -1): void {
    if (patternType !== AclPattern.PREFIXED) return
    const lengths = this.#prefixLengths.get(resourceType) ?? new Map<number, number>()
    this.#prefixLengths.set(resourceType, lengths)
    const count = (lengths.get(resourceName.length) ?? 0) + change
    if (count > 0) lengths.set(resourceName.length, count)
    else lengths.delete(resourceName.length)
  }
}
