/** Words of ACLs to numbers and back, and what is refused, over the commands of a controller. */
import { deepStrictEqual, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { OperationalError } from '../../core/errors.ts'
import { randomUuid } from '../../core/uuid.ts'
import type { AclImage } from '../../metadata/acl.ts'
import { aclMatches } from '../../metadata/acl-filter.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { imageWithAcls } from '../../metadata/fakes/random-acls.ts'
import type { AclView } from '../../rest/cluster-ports.ts'
import { localAclAdmin } from './acl-admin.ts'

const NONE = { errorCode: 0, errorMessage: null }
const any = {
  resourceType: undefined,
  resourceName: undefined,
  patternType: undefined,
  principal: undefined,
  host: undefined,
  operation: undefined,
  permission: undefined,
}
const alice: AclView = {
  resourceType: 'TRANSACTIONAL_ID',
  resourceName: 'app-',
  patternType: 'PREFIXED',
  principal: 'User:alice',
  host: '*',
  operation: 'ALL',
  permission: 'DENY',
}

/** As much of a controller as keeps ACLs. */
function controllerOf(): Controller {
  let acls: AclImage[] = []
  const partial: Pick<Controller, 'image' | 'acls'> = {
    get image() {
      return imageWithAcls(acls)
    },
    acls: {
      async createAcls(entries) {
        acls = [...acls, ...entries.map(entry => ({ ...entry, id: randomUuid() }))]
        return entries.map(() => NONE)
      },
      async deleteAcls(filters) {
        return filters.map(filter => {
          const gone = acls.filter(acl => aclMatches(filter, acl))
          acls = acls.filter(acl => !gone.includes(acl))
          return { ...NONE, acls: gone }
        })
      },
    },
  }
  return partial as Controller
}

const codeOf = (error: unknown) => error instanceof OperationalError && [error.row.status, error.row.restCode]
const isRefusal = (error: unknown) => deepStrictEqual(codeOf(error), [400, 40002]) === undefined

test('an ACL comes back in the words in which it was created, whatever their case', async () => {
  const admin = localAclAdmin({ controller: controllerOf(), hasAuthorizer: true })
  await admin.create([{ ...alice, operation: 'all', permission: 'deny' }])
  deepStrictEqual(admin.list(any), [alice])
  deepStrictEqual(admin.list({ ...any, principal: 'User:bob' }), [])
  deepStrictEqual(admin.list({ ...any, patternType: 'MATCH', resourceName: 'app-1' }), [alice])
  deepStrictEqual(await admin.delete({ ...any, resourceType: 'TRANSACTIONAL_ID' }), [alice])
  deepStrictEqual(admin.list(any), [])
})

test('words that Kafka does not know, ANY in an entry and a second name of the cluster are refused', async () => {
  const admin = localAclAdmin({ controller: controllerOf(), hasAuthorizer: true })
  for (const wrong of [
    { ...alice, operation: 'ANY' },
    { ...alice, patternType: 'MATCH' },
    { ...alice, resourceType: 'toString' },
    { ...alice, resourceType: 'CLUSTER', resourceName: 'other' },
  ])
    await rejects(admin.create([wrong]), isRefusal)
  throws(() => admin.list({ ...any, permission: 'MAYBE' }), isRefusal)
})

test('without an authorizer there are no ACLs to list or create', async () => {
  const admin = localAclAdmin({ controller: controllerOf(), hasAuthorizer: false })
  throws(() => admin.list(any), isRefusal)
  await rejects(admin.create([alice]), isRefusal)
  await rejects(admin.delete(any), isRefusal)
})
