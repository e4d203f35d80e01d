// Static members (KIP-345) as both nodes must answer them: coming back, taking over, being fenced.
import { groupCase, type Membership } from './group-talk.ts'
import type { ParityCase } from './parity-case.ts'

const at = (member: Membership, change: Partial<Membership>): Membership => ({ ...member, ...change })

const staticMembers = (version: number): ParityCase =>
  groupCase(`JoinGroup ${version} of static members`, async talk => {
    const groupInstanceId = 'i'
    const options = { version, client: 'a', groupInstanceId }
    const first = await talk.settle(options)
    const second = await talk.join('the instance comes back', options)
    await talk.sync('its assignment', second)
    await talk.heartbeat('old member id', first)
    await talk.sync('sync of the old member id', first)
    await talk.commit('commit of the old member id', first)
    await talk.join('join of the old member id', { ...options, memberId: first.memberId })
    await talk.leave('leave of the old member id', [{ memberId: first.memberId, groupInstanceId }])
    await talk.heartbeat('an unknown instance', at(second, { groupInstanceId: 'other' }))
    await talk.heartbeat('without the instance', at(second, { groupInstanceId: null }))
    await talk.commit('commit', second)
    await talk.describe('stable')
    const third = await talk.join('the instance comes back with other metadata', { ...options, metadata: 'new' })
    await talk.describe('unchanged generation')
    await talk.heartbeat('heartbeat of the third', third)
    await talk.leave('removed by an administrator', [
      { memberId: '', groupInstanceId },
      { memberId: '', groupInstanceId: 'j' },
    ])
    await talk.describe('empty')
  })

const staticProtocol = groupCase('JoinGroup of a static member that changes the protocol', async talk => {
  const groupInstanceId = 'i'
  const protocols = (...names: string[]) => names.map(name => ({ name, metadata: Buffer.from(name) }))
  const first = await talk.join('join', { groupInstanceId, protocols: protocols('p', 'q') })
  await talk.sync('sync', first, { given: { [first.memberId]: 'all' } })
  const second = await talk.join('comes back with the other one', { groupInstanceId, protocols: protocols('q') })
  await talk.describe('completing')
  await talk.join('comes back before the assignment', { groupInstanceId, protocols: protocols('q') })
  await talk.heartbeat('second is fenced', second)
})

export const staticMemberCases: readonly ParityCase[] = [...[5, 8, 9].map(staticMembers), staticProtocol]
