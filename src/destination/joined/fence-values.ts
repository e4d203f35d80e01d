/** What keeps clients from writing a mirror that a Java broker may come to lead: topic configs and ACLs. Pure; JoinedFence puts them on and takes them off. */
import {
  type AclEntry,
  type AclImage,
  AclPattern,
  AclPermission,
  ALL_OPERATIONS,
  aclKey,
  WILDCARD,
} from '../../metadata/acl.ts'
import { AclOperation, AclResource } from '../../metadata/authorizer.ts'
import { ConfigResourceType, configOverrides, type MetadataImage } from '../../metadata/metadata-image.ts'

/**
 * 78 bytes are a transaction marker, and a record of at most 10 bytes. Were markers refused as well, the coordinator that sends one
 * would give up on all transactions of its answer, also those that have nothing to do with the mirror. Retention is what our log
 * start says: each broker's own would delete by itself.
 */
export const fenceConfigs: ReadonlyMap<string, string> = new Map([
  ['max.message.bytes', '78'],
  ['retention.ms', '-1'],
  ['retention.bytes', '-1'],
])

/** How a cluster with an authorizer judges; undefined where there is none. */
export interface ClusterSecurity {
  /** `allow.everyone.if.no.acl.found`: a resource without ACLs is open to everybody, until it has one. */
  readonly allowsIfNoAcl: boolean
}

const EVERYBODY = 'User:*'

const aboutTopic = (topic: string) => ({
  resourceType: AclResource.TOPIC,
  resourceName: topic,
  patternType: AclPattern.LITERAL,
  principal: EVERYBODY,
  host: WILDCARD,
})

/** Nobody but super users writes it. */
export const denyWrite = (topic: string): AclEntry => ({
  ...aboutTopic(topic),
  operation: AclOperation.WRITE,
  permissionType: AclPermission.DENY,
})

/** What was allowed by the lack of ACLs stays allowed. */
export const allowAll = (topic: string): AclEntry => ({
  ...aboutTopic(topic),
  operation: ALL_OPERATIONS,
  permissionType: AclPermission.ALLOW,
})

/** Is it an ACL of a fence of that topic? */
export const isFenceAcl = (acl: AclEntry): boolean => {
  const key = aclKey(acl)
  return key === aclKey(denyWrite(acl.resourceName)) || key === aclKey(allowAll(acl.resourceName))
}

/** Overrides that a mirror's topic has to have and has not. */
export function missingConfigs(image: MetadataImage, topic: string): Map<string, string> {
  const overrides = configOverrides(image, { type: ConfigResourceType.TOPIC, name: topic })
  return new Map([...fenceConfigs].filter(([key, value]) => overrides.get(key) !== value))
}

/** ACLs that a mirror's topic has to have and has not, in the order in which they are to be created. */
export function missingAcls(image: MetadataImage, topic: string, security: ClusterSecurity | undefined): AclEntry[] {
  if (!security) return []
  const covering = aclsAbout(image, topic)
  const present = new Set(covering.map(aclKey))
  const others = covering.some(acl => !isFenceAcl(acl))
  // Any ACL ends the default: without the second one nobody could read any more.
  const wanted = security.allowsIfNoAcl && !others ? [allowAll(topic), denyWrite(topic)] : [denyWrite(topic)]
  return wanted.filter(acl => !present.has(aclKey(acl)))
}

/** ACLs of the fence that are there, in the order in which they are to be deleted: the topic is never closed to readers. */
export function fenceAclsOf(image: MetadataImage, topic: string, security: ClusterSecurity | undefined): AclEntry[] {
  if (!security) return []
  const present = new Set(aclsAbout(image, topic).map(aclKey))
  const ours = security.allowsIfNoAcl ? [denyWrite(topic), allowAll(topic)] : [denyWrite(topic)]
  return ours.filter(acl => present.has(aclKey(acl)))
}

const aclsAbout = (image: MetadataImage, topic: string): AclImage[] =>
  [...image.aclIndex.covering(AclResource.TOPIC, topic)].flatMap(({ byPrincipal }) => [...byPrincipal.values()].flat())
