// Random ACLs and questions to Kafka's own StandardAuthorizer and to ours: equal decisions, by name and by type, and equal filters.
import { deepStrictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { AclPattern, AclPatternFilter, AclPermission, ALL_OPERATIONS, ANY, aclKey } from '../../src/metadata/acl.ts'
import { type AclFilter, aclMatches } from '../../src/metadata/acl-filter.ts'
import { AclOperation, AclResource } from '../../src/metadata/authorizer.ts'
import {
  arbitraryAcl,
  arbitraryAction,
  arbitraryRequester,
  imageWithAcls,
  numberedAcl,
} from '../../src/metadata/fakes/random-acls.ts'
import { parseSuperUsers, StandardAuthorizer } from '../../src/metadata/standard-authorizer.ts'
import { JavaDriver } from '../java/driver.ts'
import { skipWithoutJava } from '../kafka/jars.ts'

const skip = skipWithoutJava()
let java: JavaDriver
before(async () => {
  if (!skip) java = await JavaDriver.start({ version: '4.3.1' })
})
after(async () => {
  if (!skip) await java.close()
})

/** Names that begin alike put the order of Kafka's sorted ACLs to work. */
const arbitraryFilter: fc.Arbitrary<AclFilter> = fc.record({
  resourceType: fc.constantFrom(ANY, AclResource.TOPIC, AclResource.GROUP, AclResource.TRANSACTIONAL_ID),
  resourceName: fc.constantFrom(null, 'a', 'ab', 'abc', '*', 'x'),
  patternType: fc.constantFrom(...Object.values(AclPattern), ...Object.values(AclPatternFilter)),
  principal: fc.constantFrom(null, 'User:alice', 'User:*'),
  host: fc.constantFrom(null, '*', '127.0.0.1'),
  operation: fc.constantFrom(ANY, ALL_OPERATIONS, AclOperation.READ, AclOperation.DESCRIBE),
  permissionType: fc.constantFrom(ANY, ...Object.values(AclPermission)),
})

const scenario = fc.record({
  acls: fc.uniqueArray(arbitraryAcl, { maxLength: 40, selector: aclKey }),
  superUsers: fc.constantFrom('', 'User:carol', 'User:carol; User:bob'),
  openWithoutAcl: fc.boolean(),
  questions: fc.array(fc.tuple(arbitraryRequester, arbitraryAction), { minLength: 40, maxLength: 80 }),
  filters: fc.array(arbitraryFilter, { minLength: 5, maxLength: 15 }),
})

test('300 random sets of ACLs are judged as Kafka 4.3.1 judges them', { skip }, async () => {
  const property = fc.asyncProperty(scenario, async ({ acls, superUsers, openWithoutAcl, questions, filters }) => {
    const image = imageWithAcls(acls.map(numberedAcl))
    const authorizer = new StandardAuthorizer({
      superUsers: parseSuperUsers(superUsers),
      allowIfNoAcl: openWithoutAcl,
    })
    const asked = questions.map(([requester, { operation, resource, name }]) => ({
      ...requester,
      operation: AclOperation[operation],
      resourceType: AclResource[resource],
      name,
    }))
    const kafka = await java.call('authorize', {
      acls,
      superUsers,
      openWithoutAcl,
      questions: asked,
      byType: asked,
      filters,
    })
    deepStrictEqual(
      {
        questions: questions.map(([requester, action]) => authorizer.allows(image, requester, action)),
        byType: questions.map(([requester, action]) => authorizer.allowsSome(image, requester, action)),
        filters: filters.map(filter => acls.filter(acl => aclMatches(filter, acl)).length),
      },
      kafka,
    )
  })
  await fc.assert(property, { numRuns: 300 })
})
