/** Tests of the authorizer: against a model that looks at every ACL, and rule by rule. */
import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type AclEntry, AclPattern, AclPermission, ALL_OPERATIONS, WILDCARD } from './acl.ts'
import { type AclAction, AclOperation, type AclOperationName, AclResource, type Requester } from './authorizer.ts'
import {
  arbitraryAcl,
  arbitraryAction,
  arbitraryRequester,
  imageWithAcls,
  imageWithoutAcls,
  numberedAcl,
} from './fakes/random-acls.ts'
import { emptyImage } from './metadata-image.ts'
import { parseSuperUsers, StandardAuthorizer } from './standard-authorizer.ts'

const impliesDescribe: readonly AclOperationName[] = ['DESCRIBE', 'READ', 'WRITE', 'DELETE', 'ALTER']
const impliesDescribeConfigs: readonly AclOperationName[] = ['DESCRIBE_CONFIGS', 'ALTER_CONFIGS']

const covers = ({ patternType, resourceName }: AclEntry, name: string): boolean =>
  patternType === AclPattern.PREFIXED
    ? name.startsWith(resourceName)
    : resourceName === name || resourceName === WILDCARD

/** Every ACL is looked at, as the documentation of Kafka describes the outcome. */
function model(
  acls: readonly AclEntry[],
  { requester: { principal, host }, action }: { readonly requester: Requester; readonly action: AclAction },
  openWithout: boolean,
): boolean {
  const about = acls.filter(acl => acl.resourceType === AclResource[action.resource] && covers(acl, action.name))
  const mine = about.filter(acl => [principal, 'User:*'].includes(acl.principal) && [host, WILDCARD].includes(acl.host))
  const granting =
    action.operation === 'DESCRIBE'
      ? impliesDescribe
      : action.operation === 'DESCRIBE_CONFIGS'
        ? impliesDescribeConfigs
        : [action.operation]
  const has = (permission: number, operations: readonly AclOperationName[]) =>
    mine.some(
      ({ permissionType, operation }) =>
        permissionType === permission &&
        (operation === ALL_OPERATIONS || operations.some(name => AclOperation[name] === operation)),
    )
  if (has(AclPermission.DENY, [action.operation])) return false
  return has(AclPermission.ALLOW, granting) || (about.length === 0 && openWithout)
}

test('decisions are those of a model that looks at every ACL, however the ACLs came and went', () => {
  fc.assert(
    fc.property(
      fc.record({
        entries: fc.array(arbitraryAcl, { maxLength: 25 }),
        gone: fc.array(fc.nat({ max: 24 }), { maxLength: 8 }),
        questions: fc.array(fc.tuple(arbitraryRequester, arbitraryAction), { minLength: 1, maxLength: 20 }),
        allowIfNoAcl: fc.boolean(),
      }),
      ({ entries, gone, questions, allowIfNoAcl }) => {
        const acls = entries.map(numberedAcl)
        const removed = new Set(gone.flatMap(index => acls[index]?.id ?? []))
        const oneByOne = acls.reduce((base, acl) => imageWithAcls([acl], base), emptyImage('c'))
        const image = imageWithoutAcls(oneByOne, [...removed])
        const left = acls.filter(({ id }) => !removed.has(id))
        const authorizer = new StandardAuthorizer({ superUsers: new Set(), allowIfNoAcl })
        for (const [requester, action] of questions)
          strictEqual(
            authorizer.allows(image, requester, action),
            model(left, { requester, action }, allowIfNoAcl),
            JSON.stringify({ requester, action }),
          )
      },
    ),
    { numRuns: 300 },
  )
})

test('what is allowed on some name is allowed by type, unless it is only implied', () => {
  fc.assert(
    fc.property(
      fc.array(arbitraryAcl, { maxLength: 12 }),
      arbitraryRequester,
      fc.constantFrom('READ' as const, 'WRITE' as const),
      (entries, requester, operation) => {
        const image = imageWithAcls(entries.map(numberedAcl))
        const authorizer = new StandardAuthorizer({ superUsers: new Set(), allowIfNoAcl: false })
        const some = ['a', 'ab', 'abc', 'abd', 'b', 'ba', 'hardcode', 'har', 'abcd', 'c'].some(name =>
          authorizer.allows(image, requester, { operation, resource: 'TOPIC', name }),
        )
        // The other way round it need not hold: names beyond these may be allowed.
        if (some) ok(authorizer.allowsSome(image, requester, { operation, resource: 'TOPIC' }))
      },
    ),
  )
})

const alice = { principal: 'User:alice', host: '127.0.0.1' }

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

const strict = new StandardAuthorizer({ superUsers: new Set(['User:admin']), allowIfNoAcl: false })

const onOrders = (operation: AclOperationName): AclAction => ({ operation, resource: 'TOPIC', name: 'orders' })

test('a super user may do everything, also what is denied to everybody', () => {
  const image = imageWithAcls([
    numberedAcl(entry({ principal: 'User:*', operation: ALL_OPERATIONS, permissionType: AclPermission.DENY }), 1),
  ])
  strictEqual(strict.allows(image, { ...alice, principal: 'User:admin' }, onOrders('WRITE')), true)
  strictEqual(
    strict.allowsSome(image, { ...alice, principal: 'User:admin' }, { operation: 'WRITE', resource: 'TOPIC' }),
    true,
  )
})

test('READ implies DESCRIBE when it is allowed, and not when it is denied', () => {
  const allowing = imageWithAcls([numberedAcl(entry(), 1)])
  deepStrictEqual(
    [strict.allows(allowing, alice, onOrders('DESCRIBE')), strict.allows(allowing, alice, onOrders('WRITE'))],
    [true, false],
  )
  const denying = imageWithAcls([
    numberedAcl(entry({ permissionType: AclPermission.DENY }), 1),
    numberedAcl(entry({ operation: AclOperation.DESCRIBE }), 2),
  ])
  deepStrictEqual(
    [strict.allows(denying, alice, onOrders('DESCRIBE')), strict.allows(denying, alice, onOrders('READ'))],
    [true, false],
  )
})

test('a resource is open without ACLs only while no ACL of anybody is about it', () => {
  const open = new StandardAuthorizer({ superUsers: new Set(), allowIfNoAcl: true })
  strictEqual(open.allows(emptyImage('c'), alice, onOrders('READ')), true)
  const image = imageWithAcls([numberedAcl(entry({ principal: 'User:bob' }), 1)])
  strictEqual(open.allows(image, alice, onOrders('READ')), false)
})

test('by type: an ALLOW counts unless a DENY covers all of its pattern', () => {
  const outcome = (...acls: AclEntry[]) =>
    strict.allowsSome(imageWithAcls(acls.map(numberedAcl)), alice, { operation: 'READ', resource: 'TOPIC' })
  const deny = { permissionType: AclPermission.DENY }
  const prefix = { patternType: AclPattern.PREFIXED }
  deepStrictEqual(
    [
      outcome(),
      outcome(entry()),
      outcome(entry(), entry(deny)),
      outcome(entry(), entry({ ...deny, ...prefix, resourceName: 'ord' })),
      outcome(entry({ ...prefix, resourceName: 'ord' }), entry(deny)),
      outcome(entry({ ...prefix, resourceName: 'ord' }), entry({ ...deny, ...prefix, resourceName: 'o' })),
      outcome(entry({ resourceName: WILDCARD }), entry(deny)),
      outcome(entry(), entry({ ...deny, resourceName: WILDCARD })),
    ],
    [false, true, false, false, true, false, true, false],
  )
})

test('10 000 ACLs of ten kinds of pattern are found without looking at all of them', () => {
  const acls = Array.from({ length: 10_000 }, (_, index) =>
    numberedAcl(
      entry({
        resourceName: `${'team'.repeat(1 + (index % 5))}-${index}`,
        principal: `User:${index % 100}`,
        patternType: index % 2 === 0 ? AclPattern.LITERAL : AclPattern.PREFIXED,
      }),
      index,
    ),
  )
  const image = imageWithAcls(acls)
  const asker = { principal: 'User:1', host: '::1' }
  strictEqual(strict.allows(image, asker, { operation: 'READ', resource: 'TOPIC', name: 'teamteam-1-x' }), true)
  strictEqual([...image.aclIndex.covering(AclResource.TOPIC, 'teamteam-1-x')].length, 1)
  strictEqual(
    [
      ...imageWithoutAcls(
        image,
        acls.map(({ id }) => id),
      ).aclIndex.ofType(AclResource.TOPIC),
    ].length,
    0,
  )
})

test('super users stand between semicolons, with their type', () => {
  deepStrictEqual([...parseSuperUsers(' User:a; User:CN=b,O=c ;;')], ['User:a', 'User:CN=b,O=c'])
  throws(() => parseSuperUsers('User:a;b'), /"b" is not of the form User:name/)
})
