/** ACLs follow the source, and only those that a link created are ever deleted by it. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { AclBinding } from './acl-ports.ts'
import { EngineWorld, linkRequest } from './fakes/engine-world.ts'

const everything = JSON.stringify({
  aclFilters: [
    {
      resourceFilter: { resourceType: 'any', patternType: 'any' },
      accessFilter: { operation: 'any', permissionType: 'any' },
    },
  ],
})
const topicsOnly = JSON.stringify({ aclFilters: [{ resourceFilter: { resourceType: 'topic' } }] })

const acl = (principal: string, resourceName: string, more: Partial<AclBinding> = {}): AclBinding => ({
  ...{ resourceType: 2, resourceName, patternType: 3, principal, host: '*', operation: 3, permissionType: 3 },
  ...more,
})

async function linked(filters: string, names = ['west']): Promise<EngineWorld> {
  const world = new EngineWorld()
  await world.start()
  for (const name of names) {
    const configs = { 'acl.sync.enable': 'true', 'acl.filters': filters }
    await world.engine.createLink(linkRequest(name, configs), { validateOnly: false, validateLink: true })
  }
  await world.settle()
  return world
}

const atSource = (world: EngineWorld, ...acls: AclBinding[]) => {
  world.source.acls = { kind: 'acls', acls }
}

async function round(world: EngineWorld): Promise<void> {
  await world.clock.advance(5000)
  await world.settle()
}

const here = (world: EngineWorld) =>
  (world.cluster.acls.kind === 'acls' ? world.cluster.acls.acls : []).map(
    ({ principal, resourceName }) => `${principal} ${resourceName}`,
  )

const task = (world: EngineWorld, link = 'west') =>
  world.engine.describeLink(link).tasks.find(({ name }) => name === 'AclSync')

test('what is missing is created, what this link created goes with the source, what others created stays', async () => {
  const world = await linked(everything)
  world.cluster.changeAcls(() => [acl('User:local', 'orders'), acl('User:both', 'orders')])
  atSource(world, acl('User:app', 'orders'), acl('User:both', 'orders'), acl('User:known', 'x', { patternType: 4 }))
  await round(world)
  deepEqual(here(world), ['User:local orders', 'User:both orders', 'User:app orders', 'User:known x'])
  deepEqual(
    world.engine.listOwnedAcls('west').map(row => [row.principal, row.patternType, row.operation, row.hasLogin]),
    [
      ['User:app', 'LITERAL', 'READ', false],
      ['User:known', 'PREFIXED', 'READ', true],
    ],
  )
  atSource(world)
  await round(world)
  deepEqual(here(world), ['User:local orders', 'User:both orders'])
  deepEqual(world.engine.listOwnedAcls('west'), [])
  await world.engine.stop()
})

test('filters choose; an ACL that they leave out later stays as it is', async () => {
  const world = await linked(everything)
  atSource(world, acl('User:app', 'orders'), acl('User:app', 'group', { resourceType: 3 }))
  await round(world)
  equal(here(world).length, 2)
  const narrower = { name: 'acl.filters', operation: 'SET', value: topicsOnly } as const
  await world.engine.alterLinkConfigs('west', [narrower], { validateOnly: false })
  atSource(world)
  await round(world)
  deepEqual(here(world), ['User:app group'])
  const all = { name: 'acl.filters', operation: 'SET', value: everything } as const
  await world.engine.alterLinkConfigs('west', [all], { validateOnly: false })
  await round(world)
  deepEqual(here(world), [])
  await world.engine.stop()
})

test('an ACL of two links is deleted with the last one that drops it', async () => {
  const world = await linked(everything, ['west', 'east'])
  atSource(world, acl('User:app', 'orders'))
  await round(world)
  await round(world)
  deepEqual([world.engine.listOwnedAcls('west').length, world.engine.listOwnedAcls('east').length], [1, 1])
  const pause = (value: string) => ({ name: 'cluster.link.paused', operation: 'SET', value }) as const
  await world.engine.alterLinkConfigs('west', [pause('true')], { validateOnly: false })
  atSource(world)
  await round(world)
  equal(here(world).length, 1, 'one of both does not know yet')
  await world.engine.alterLinkConfigs('west', [pause('false')], { validateOnly: false })
  await round(world)
  deepEqual(here(world), [])
  await world.engine.stop()
})

test('a kill at any step leaves no ACL that nobody would delete', async () => {
  for (const side of ['before', 'after'] as const)
    for (let at = 0; at < 4; at++) {
      const world = await linked(everything)
      world.process.planCrash({ at, side })
      atSource(world, acl('User:app', 'orders'))
      await round(world)
      atSource(world)
      await round(world)
      await world.start()
      await round(world)
      deepEqual(here(world), [], `${side} ${at}: ${world.process.effects}`)
      await world.engine.stop()
    }
})

test('without an authorizer, and without filters, the task says so and nothing else stops', async () => {
  const world = await linked(everything)
  world.source.acls = { kind: 'security-disabled' }
  await round(world)
  equal(task(world)?.errors[0]?.code, 'SECURITY_DISABLED_ERROR')
  atSource(world, acl('User:app', 'orders'))
  world.cluster.acls = { kind: 'security-disabled' }
  await round(world)
  equal(task(world)?.errors[0]?.message, 'this cluster has no authorizer (authorizer.class.name)')
  world.cluster.acls = { kind: 'acls', acls: [] }
  await round(world)
  equal(task(world)?.state, 'ACTIVE')
  const none = { name: 'acl.filters', operation: 'DELETE', value: null } as const
  await world.engine.alterLinkConfigs('west', [none], { validateOnly: false })
  await round(world)
  equal(task(world)?.errors[0]?.code, 'MISCONFIGURATION_ERROR')
  deepEqual(here(world), ['User:app orders'], 'nothing is deleted by a mistake in the filters')
  await world.engine.stop()
})

// It was tried in every round, with a record of its own each time, and when the source dropped it the link could not let go.
test('an ACL that this cluster refuses is listed, tried ever more seldom, not owned, and forgotten with its source', async () => {
  const world = await linked(everything)
  world.cluster.refusedAcls.add('User:odd')
  atSource(world, acl('User:odd', 'orders'), acl('User:app', 'orders'))
  for (let rounds = 0; rounds < 60; rounds++) await round(world)
  deepEqual(here(world), ['User:app orders'])
  const tried = world.cluster.triedAcls.filter(principal => principal === 'User:odd').length
  ok(tried >= 3 && tried <= 8, `${tried} attempts in 60 rounds`)
  deepEqual(task(world)?.errors, [{ code: 'INVALID_REQUEST_ERROR', message: 'no ACL of User:odd' }])
  deepEqual(
    world.engine.listOwnedAcls('west').map(row => row.principal),
    ['User:app'],
  )
  atSource(world, acl('User:app', 'orders'))
  await round(world)
  equal(task(world)?.state, 'ACTIVE')
  // One that will not go does not keep the others.
  atSource(world, acl('User:app', 'orders'), acl('User:other', 'orders'))
  await round(world)
  world.cluster.refusedAcls.add('User:app')
  atSource(world)
  await round(world)
  deepEqual(here(world), ['User:app orders'])
  equal(task(world)?.errors[0]?.code, 'INTERNAL_ERROR')
  world.cluster.refusedAcls.clear()
  for (let rounds = 0; rounds < 4; rounds++) await round(world)
  deepEqual(here(world), [])
  deepEqual(world.engine.listOwnedAcls('west'), [])
  equal(task(world)?.state, 'ACTIVE')
  await world.engine.stop()
})
