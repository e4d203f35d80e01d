// Waits until what was changed is in force; Kafka answers administrators before its brokers have heard, and tells before it has applied.
import { strictEqual } from 'node:assert/strict'
import { DescribeClientQuotasApi } from '../../src/protocol/messages/48-describe-client-quotas.ts'
import { AlterClientQuotasApi } from '../../src/protocol/messages/49-alter-client-quotas.ts'
import { eventually } from '../eventually.ts'
import type { ParityCase } from './parity-case.ts'
import { ask, type Peer } from './raw-exchange.ts'

/** Of nobody: a quota that comes and goes. */
const USER = 'in-force'
const EXACT = 0

/**
 * Everything that was changed before the call is applied. A broker takes up changes one after the other, each in all its parts: once it
 * tells of the second of two changes that were made here, it has done with the first, and with all that came before.
 */
export async function everythingIsInForce(peer: Peer): Promise<void> {
  await setQuota(peer, false)
  await setQuota(peer, true)
}

async function setQuota(peer: Peer, remove: boolean): Promise<void> {
  const entity = [{ entityType: 'user', entityName: USER }]
  const request = { entries: [{ entity, ops: [{ key: 'producer_byte_rate', value: 1, remove }] }], validateOnly: false }
  const altered = await ask(peer, { api: AlterClientQuotasApi, request, version: 1 })
  if (typeof altered === 'string') throw new Error(`AlterClientQuotas: ${altered}`)
  strictEqual(altered.entries[0]?.errorCode, 0)
  const components = [{ entityType: 'user', matchType: EXACT, match: USER }]
  await eventually(async () => {
    const told = await ask(peer, { api: DescribeClientQuotasApi, request: { components, strict: true }, version: 1 })
    if (typeof told === 'string') throw new Error(`DescribeClientQuotas: ${told}`)
    strictEqual(told.entries?.length ?? 0, remove ? 0 : 1)
  })
}

/** A step between two cases. */
export const inForce = (what: string): ParityCase => ({
  name: `${what}: in force`,
  async ask(peer) {
    await everythingIsInForce(peer)
    return 'in force'
  },
})
