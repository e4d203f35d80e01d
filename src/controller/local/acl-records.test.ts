/** Tests of the commands about ACLs as pure decisions. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { randomUuid } from '../../core/uuid.ts'
import {
  type AclEntry,
  AclPattern,
  AclPatternFilter,
  AclPermission,
  ANY,
  aclKey,
  WILDCARD,
} from '../../metadata/acl.ts'
import type { AclFilter } from '../../metadata/acl-filter.ts'
import { AclOperation, AclResource } from '../../metadata/authorizer.ts'
import { arbitraryAcl } from '../../metadata/fakes/random-acls.ts'
import { emptyImage, type MetadataImage } from '../../metadata/metadata-image.ts'
import { errorName } from '../../protocol/errors.ts'
import { createAcls, deleteAcls } from './acl-records.ts'
import { after } from './fakes/cluster-images.ts'

const entry = (changes: Partial<AclEntry> = {}): AclEntry => ({
  resourceType: AclResource.TOPIC,
  resourceName: 'orders',
  patternType: AclPattern.LITERAL,
  principal: 'User:alice',
  host: WILDCARD,
  operation: AclOperation.READ,
  permissionType: AclPermission.ALLOW,
  ...changes,
})

const everything: AclFilter = {
  resourceType: ANY,
  resourceName: null,
  patternType: AclPatternFilter.ANY,
  principal: null,
  host: null,
  operation: ANY,
  permissionType: ANY,
}

const codes = (answers: readonly { readonly errorCode: number }[]) =>
  answers.map(({ errorCode }) => errorName(errorCode))

const withAcls = (...entries: AclEntry[]): MetadataImage => {
  const image = emptyImage('c')
  return after(image, createAcls(image, entries, randomUuid).records)
}

const namesOf = (image: MetadataImage) => Array.from(image.acls.values(), ({ resourceName }) => resourceName).sort()

test('an entry is written once, with an id of its own', () => {
  const image = withAcls(entry(), entry(), entry({ host: '10.0.0.1' }))
  strictEqual(image.acls.size, 2)
  ok([...image.acls].every(([id, acl]) => id === acl.id))
  deepStrictEqual(createAcls(image, [entry()], randomUuid).records, [])
})

test('entries that say nothing definite are INVALID_REQUEST and do not stop the others', () => {
  const { records, answer } = createAcls(
    emptyImage('c'),
    [
      entry({ resourceType: ANY }),
      entry({ resourceType: 9 }),
      entry({ patternType: AclPatternFilter.MATCH }),
      entry({ operation: ANY }),
      entry({ operation: 99 }),
      entry({ permissionType: ANY }),
      entry({ resourceName: '' }),
      entry({ principal: 'alice' }),
      entry(),
    ],
    randomUuid,
  )
  deepStrictEqual(codes(answer), [...new Array(8).fill('INVALID_REQUEST'), 'NONE'])
  strictEqual(records.length, 1)
})

test('more entries than one command may write are refused together', () => {
  const entries = Array.from({ length: 10_001 }, (_, index) => entry({ resourceName: `t${index}` }))
  const { records, answer } = createAcls(emptyImage('c'), entries, randomUuid)
  deepStrictEqual([records.length, new Set(codes(answer))], [0, new Set(['POLICY_VIOLATION'])])
})

test('MATCH means every pattern that covers the name, the other pattern types compare names', () => {
  const prefixed = AclPattern.PREFIXED
  const image = withAcls(
    entry({ resourceName: 'orders' }),
    entry({ resourceName: 'ord', patternType: prefixed }),
    entry({ resourceName: 'orders', patternType: prefixed }),
    entry({ resourceName: 'ordersX', patternType: prefixed }),
    entry({ resourceName: WILDCARD }),
  )
  const matched = (patternType: number, resourceName: string | null = 'orders') =>
    deleteAcls(image, [{ ...everything, patternType, resourceName }])
      .answer[0]?.acls.map(acl => `${acl.patternType === prefixed ? 'prefixed' : 'literal'} ${acl.resourceName}`)
      .sort()
  deepStrictEqual(matched(AclPatternFilter.MATCH), ['literal *', 'literal orders', 'prefixed ord', 'prefixed orders'])
  deepStrictEqual(matched(AclPatternFilter.ANY), ['literal orders', 'prefixed orders'])
  deepStrictEqual(matched(AclPattern.LITERAL), ['literal orders'])
  deepStrictEqual(matched(AclPattern.PREFIXED), ['prefixed orders'])
  strictEqual(matched(AclPattern.PREFIXED, null)?.length, 3)
})

test('filters may overlap: each tells what it matched, and everything matched is gone', () => {
  const image = withAcls(entry(), entry({ resourceName: 'payments' }), entry({ principal: 'User:bob' }))
  const { records, answer } = deleteAcls(image, [
    { ...everything, resourceName: 'orders' },
    { ...everything, principal: 'User:alice' },
    { ...everything, operation: 99 },
    { ...everything, patternType: 9 },
    { ...everything, host: '10.0.0.1' },
  ])
  deepStrictEqual(codes(answer), ['NONE', 'NONE', 'INVALID_REQUEST', 'INVALID_REQUEST', 'NONE'])
  deepStrictEqual(
    answer.map(({ acls }) => acls.length),
    [2, 2, 0, 0, 0],
  )
  deepStrictEqual(namesOf(after(image, records)), [])
})

test('what was created is found by a filter that spells it out, and deleting it leaves the rest', () => {
  fc.assert(
    fc.property(fc.uniqueArray(arbitraryAcl, { minLength: 1, maxLength: 20, selector: aclKey }), entries => {
      const image = withAcls(...entries)
      strictEqual(image.acls.size, entries.length)
      const [first, ...others] = entries
      if (!first) return
      const { records, answer } = deleteAcls(image, [first])
      strictEqual(answer[0]?.acls.length, 1)
      deepStrictEqual(Array.from(after(image, records).acls.values(), aclKey).sort(), others.map(aclKey).sort())
    }),
  )
})
