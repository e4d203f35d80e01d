// Lets a share group begin at the start of what it reads; used by suites of share groups, at Kafka and here.
import { match } from 'node:assert/strict'
import { eventually } from '../eventually.ts'

const KEY = 'share.auto.offset.reset'

/**
 * `ask` is the driver's `admin-topics` at the cluster. Resolves to what the alteration was answered, when the cluster's broker has heard of
 * it: what the group begins to read earlier than that begins at the end.
 */
export async function fromEarliest(ask: (args: object) => Promise<unknown>, name: string): Promise<unknown> {
  const group = { type: 'group', name }
  const altered = await ask({ op: 'alter', ...group, ops: [['SET', KEY, 'earliest']] })
  await eventually(async () => match(JSON.stringify(await ask({ op: 'configs', ...group, keys: [KEY] })), /earliest/))
  return altered
}
