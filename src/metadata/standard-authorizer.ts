/** Decides by the ACLs of the image as Kafka's StandardAuthorizer does; made by the node when `authorizer.class.name` says so. */
import { type AclImage, AclPattern, AclPermission, ALL_OPERATIONS, WILDCARD } from './acl.ts'
import type { AclIndex, PatternAcls } from './acl-index.ts'
import { type AclAction, AclOperation, AclResource, type Authorizer, type Requester } from './authorizer.ts'
import type { MetadataImage } from './metadata-image.ts'

export const STANDARD_AUTHORIZER_CLASS = 'org.apache.kafka.metadata.authorizer.StandardAuthorizer'

/** The principal of ACLs that are about everybody. */
const EVERYBODY = 'User:*'

/** A name that has nothing to do with any resource, to find out who may do everything. The name is Kafka's, so that an ACL on it has the same effect. */
const SAMPLE_NAME = 'hardcode'

/** Operations of ALLOW entries that imply another one. DENY entries deny only what they name. */
const impliedBy: ReadonlyMap<number, ReadonlySet<number>> = new Map([
  [
    AclOperation.DESCRIBE,
    new Set<number>([AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER]),
  ],
  [AclOperation.DESCRIBE_CONFIGS, new Set<number>([AclOperation.ALTER_CONFIGS])],
])

export interface StandardAuthorizerSettings {
  /** `super.users`, as in ACLs: `User:admin`. */
  readonly superUsers: ReadonlySet<string>
  /** `allow.everyone.if.no.acl.found`: resources without any ACL are open to everybody. */
  readonly allowIfNoAcl: boolean
}

export class StandardAuthorizer implements Authorizer {
  readonly #settings: StandardAuthorizerSettings

  constructor(settings: StandardAuthorizerSettings) {
    this.#settings = settings
  }

  /** Any DENY that matches wins over all ALLOWs; without either, only a resource that no ACL is about may be open. */
  allows({ aclIndex }: MetadataImage, requester: Requester, action: AclAction): boolean {
    if (this.#settings.superUsers.has(requester.principal)) return true
    const operation = AclOperation[action.operation]
    let known = false
    let granted = false
    for (const pattern of aclIndex.covering(AclResource[action.resource], action.name)) {
      known = true
      for (const acl of aclsOf(pattern, requester)) {
        if (!concerns(acl, operation)) continue
        if (acl.permissionType === AclPermission.DENY) return false
        granted = true
      }
    }
    return granted || (!known && this.#settings.allowIfNoAcl)
  }

  /**
   * Kafka's rules, which look at patterns and not at resources that exist: an ALLOW counts unless a DENY covers its whole
   * pattern. Implied operations do not count here.
   */
  allowsSome(image: MetadataImage, requester: Requester, action: Omit<AclAction, 'name'>): boolean {
    if (this.allows(image, requester, { ...action, name: SAMPLE_NAME })) return true
    const operation = AclOperation[action.operation]
    const { allowed, denied } = patternsOf(image.aclIndex, requester, {
      resourceType: AclResource[action.resource],
      operation,
    })
    if (denied.literals.has(WILDCARD)) return false
    if (allowed.literals.has(WILDCARD)) return true
    return (
      [...allowed.literals].some(name => !denied.literals.has(name) && !coveredByPrefix(name, denied.prefixes)) ||
      [...allowed.prefixes].some(prefix => !coveredByPrefix(prefix, denied.prefixes))
    )
  }
}

function* aclsOf({ byPrincipal }: PatternAcls, { principal, host }: Requester): Generator<AclImage> {
  for (const name of principal === EVERYBODY ? [EVERYBODY] : [principal, EVERYBODY])
    for (const acl of byPrincipal.get(name) ?? []) if (acl.host === WILDCARD || acl.host === host) yield acl
}

function concerns({ operation, permissionType }: AclImage, asked: number): boolean {
  if (operation === asked || operation === ALL_OPERATIONS) return true
  return permissionType === AclPermission.ALLOW && impliedBy.get(asked)?.has(operation) === true
}

interface Patterns {
  readonly literals: Set<string>
  readonly prefixes: Set<string>
}

/** Patterns on which the requester is allowed or denied exactly this operation. */
function patternsOf(
  index: AclIndex,
  requester: Requester,
  { resourceType, operation }: { readonly resourceType: number; readonly operation: number },
): { allowed: Patterns; denied: Patterns } {
  const allowed: Patterns = { literals: new Set(), prefixes: new Set() }
  const denied: Patterns = { literals: new Set(), prefixes: new Set() }
  for (const pattern of index.ofType(resourceType))
    for (const acl of aclsOf(pattern, requester)) {
      if (acl.operation !== operation && acl.operation !== ALL_OPERATIONS) continue
      const patterns = acl.permissionType === AclPermission.DENY ? denied : allowed
      if (pattern.patternType === AclPattern.PREFIXED) patterns.prefixes.add(pattern.name)
      else patterns.literals.add(pattern.name)
    }
  return { allowed, denied }
}

function coveredByPrefix(name: string, prefixes: ReadonlySet<string>): boolean {
  if (prefixes.size === 0) return false
  for (let length = 1; length <= name.length; length++) if (prefixes.has(name.slice(0, length))) return true
  return false
}

/** From `super.users`: principals between semicolons. Throws RangeError with what is wrong. */
export function parseSuperUsers(text: string): ReadonlySet<string> {
  const users = text.split(';').flatMap(part => part.trim() || [])
  for (const user of users) if (!/^[^:]+:/.test(user)) throw new RangeError(`"${user}" is not of the form User:name`)
  return new Set(users)
}
