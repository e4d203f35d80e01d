/** Arbitrary ACLs and questions over few names, so that they meet; for property tests of the authorizer and of the commands about ACLs. */
import fc from 'fast-check'
import { type Uuid, uuidFromBytes } from '../../core/uuid.ts'
import { type MetadataRecord, MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import { type AclEntry, type AclImage, AclPattern, AclPermission, ALL_OPERATIONS, WILDCARD } from '../acl.ts'
import { type AclAction, AclOperation, AclResource, type Requester } from '../authorizer.ts'
import { applyRecords } from '../metadata-editor.ts'
import { emptyImage, type MetadataImage } from '../metadata-image.ts'

const resources = ['TOPIC', 'GROUP', 'CLUSTER'] as const
const names = ['a', 'ab', 'abc', 'abd', 'b', 'ba', 'hardcode', 'har'] as const
const principals = ['User:alice', 'User:bob'] as const
const hosts = ['127.0.0.1', '10.0.0.1'] as const
const operations = [
  'READ',
  'WRITE',
  'DELETE',
  'ALTER',
  'DESCRIBE',
  'DESCRIBE_CONFIGS',
  'ALTER_CONFIGS',
  'CREATE',
] as const

export const arbitraryAcl: fc.Arbitrary<AclEntry> = fc.record({
  resourceType: fc.constantFrom(...resources.map(resource => AclResource[resource])),
  resourceName: fc.constantFrom(...names, WILDCARD),
  patternType: fc.constantFrom(AclPattern.LITERAL, AclPattern.PREFIXED),
  principal: fc.constantFrom(...principals, 'User:*'),
  host: fc.constantFrom(...hosts, WILDCARD),
  operation: fc.constantFrom(...operations.map(operation => AclOperation[operation]), ALL_OPERATIONS),
  permissionType: fc.constantFrom(AclPermission.DENY, AclPermission.ALLOW, AclPermission.ALLOW),
})

export const arbitraryRequester: fc.Arbitrary<Requester> = fc.record({
  principal: fc.constantFrom(...principals, 'User:carol'),
  host: fc.constantFrom(...hosts),
})

export const arbitraryAction: fc.Arbitrary<AclAction> = fc.record({
  operation: fc.constantFrom(...operations),
  resource: fc.constantFrom(...resources),
  name: fc.constantFrom(...names, 'abcd', 'c'),
})

export const numberedAcl = (acl: AclEntry, index: number): AclImage => ({ ...acl, id: aclId(index) })

function aclId(index: number): Uuid {
  const bytes = Buffer.alloc(16, 1)
  bytes.writeUInt32BE(index, 12)
  return uuidFromBytes(bytes)
}

const additionOf = (value: AclImage): MetadataRecord => ({
  type: MetadataRecordType.AccessControlEntry,
  version: 0,
  value,
})

/** The image after adding them all at once. */
export const imageWithAcls = (acls: readonly AclImage[], base: MetadataImage = emptyImage('c')): MetadataImage =>
  applyRecords(base, acls.map(additionOf), { offset: base.offset + 1, epoch: 1, controllerId: 1 }).image

export function imageWithoutAcls(base: MetadataImage, ids: readonly Uuid[]): MetadataImage {
  const records = ids.map(
    (id): MetadataRecord => ({ type: MetadataRecordType.RemoveAccessControlEntry, version: 0, value: { id } }),
  )
  return applyRecords(base, records, { offset: base.offset + 1, epoch: 1, controllerId: 1 }).image
}
