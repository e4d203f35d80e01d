/** The commands that create and delete ACLs, as decisions over the image. Called by the local controller. */
import type { Uuid } from '../../core/uuid.ts'
import { type AclEntry, AclPattern, AclPermission, ALL_OPERATIONS, aclKey } from '../../metadata/acl.ts'
import type { DeletedAcls } from '../../metadata/acl-commands.ts'
import { type AclFilter, aclMatches, hasUnknownEntry, hasUnknownPattern } from '../../metadata/acl-filter.ts'
import { AclOperation, AclResource } from '../../metadata/authorizer.ts'
import type { ApiError } from '../../metadata/controller-port.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { type MetadataRecordInput, MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import { accepted, type Decision, refused } from './decision.ts'

/** Records that one command may write, as in Kafka. */
const RECORDS_MAX = 10_000

/** New entries; `newId` gives an id that no entry has. */
export function createAcls(
  image: MetadataImage,
  entries: readonly AclEntry[],
  newId: () => Uuid,
): Decision<ApiError[]> {
  const known = new Set(Array.from(image.acls.values(), aclKey))
  const records: MetadataRecordInput[] = []
  const answer = entries.map(entry => {
    const problem = problemOf(entry)
    if (problem !== undefined) return refused('INVALID_REQUEST', problem)
    const key = aclKey(entry)
    if (!known.has(key)) {
      known.add(key)
      records.push({ type: MetadataRecordType.AccessControlEntry, version: 0, value: { ...entry, id: newId() } })
    }
    return accepted
  })
  if (records.length <= RECORDS_MAX) return { records, answer }
  const tooMany = refused('POLICY_VIOLATION', 'Unable to perform excessively large batch operation.')
  return { records: [], answer: answer.map(() => tooMany) }
}

function problemOf(entry: AclEntry): string | undefined {
  const { resourceType, patternType, operation, permissionType, resourceName, principal } = entry
  if (resourceType < AclResource.TOPIC || resourceType > AclResource.USER) return `Invalid resourceType ${resourceType}`
  if (patternType !== AclPattern.LITERAL && patternType !== AclPattern.PREFIXED)
    return `Invalid patternType ${patternType}`
  if (operation < ALL_OPERATIONS || operation > AclOperation.TWO_PHASE_COMMIT) return `Invalid operation ${operation}`
  if (permissionType !== AclPermission.ALLOW && permissionType !== AclPermission.DENY)
    return `Invalid permissionType ${permissionType}`
  if (resourceName === '') return 'Resource name should not be empty'
  if (!principal.includes(':')) return `The principal "${principal}" is not of the form User:name`
  return undefined
}

export function deleteAcls(image: MetadataImage, filters: readonly AclFilter[]): Decision<DeletedAcls[]> {
  const gone = new Set<Uuid>()
  const answer = filters.map((filter): DeletedAcls => {
    if (hasUnknownPattern(filter)) return { ...refused('INVALID_REQUEST', 'Unknown patternFilter.'), acls: [] }
    if (hasUnknownEntry(filter)) return { ...refused('INVALID_REQUEST', 'Unknown entryFilter.'), acls: [] }
    const acls = [...image.acls.values()].filter(acl => aclMatches(filter, acl))
    const added = acls.filter(({ id }) => !gone.has(id))
    if (gone.size + added.length > RECORDS_MAX)
      return {
        ...refused('POLICY_VIOLATION', `Cannot remove more than ${RECORDS_MAX} acls in a single delete operation.`),
        acls: [],
      }
    for (const { id } of added) gone.add(id)
    return { ...accepted, acls }
  })
  const records = Array.from(
    gone,
    (id): MetadataRecordInput => ({
      type: MetadataRecordType.RemoveAccessControlEntry,
      version: 0,
      value: { id },
    }),
  )
  return { records, answer }
}
