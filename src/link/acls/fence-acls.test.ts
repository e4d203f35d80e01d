/** ACLs of a source that only keep clients out of its mirrors. */
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { withoutFenceAcls } from './fence-acls.ts'

const acl = (change: object = {}) => ({
  ...{ resourceType: 2, resourceName: 'mirror', patternType: 3, principal: 'User:*', host: '*', operation: 4 },
  permissionType: 2,
  ...change,
})

test('the ACLs of a fence are left out where the topic is a mirror, and nothing else', () => {
  const fence = [acl(), acl({ operation: 2, permissionType: 3 })]
  const own = [
    acl({ resourceName: 'plain' }),
    acl({ principal: 'User:alice' }),
    acl({ operation: 3, permissionType: 3 }),
    acl({ patternType: 4 }),
    acl({ resourceType: 3 }),
    acl({ host: '10.0.0.1' }),
  ]
  deepEqual(
    withoutFenceAcls([...fence, ...own], topic => topic === 'mirror'),
    own,
  )
})
