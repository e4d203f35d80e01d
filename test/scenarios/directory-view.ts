// Everything that a client can see of a node, for the comparison of two nodes that had the same data directory; used by the directory suite.
import type { JavaDriver } from '../java/driver.ts'
import { TopicSide } from './topic-side.ts'

/** Topics that only one kind of node makes for itself. */
const own = new Set(['__lockstep_state', '__lockstep_status', '__share_group_state'])

/** Values that can be compared with deepStrictEqual, part by part. */
export interface DirectoryView {
  readonly topics: Readonly<Record<string, unknown>>
  readonly groups: unknown
  readonly offsets: Readonly<Record<string, unknown>>
  readonly transactions: unknown
  readonly acls: unknown
  readonly credentials: unknown
  readonly brokerConfigs: unknown
}

/** What is asked for beside all topics. */
export interface ViewOptions {
  readonly groups: readonly string[]
  readonly transactionalIds: readonly string[]
}

/** Asks a node for its topics with their configs, offsets and records, its groups, transactions, ACLs and credentials. */
export async function viewOf(
  driver: JavaDriver,
  bootstrap: string,
  { groups, transactionalIds }: ViewOptions,
): Promise<DirectoryView> {
  const call = <Result>(command: string, args: object) => driver.call<Result>(command, { bootstrap, ...args })
  const side = new TopicSide(driver, { bootstrap, dataDirectory: '' })
  const names = await call<string[]>('admin-topics', { op: 'list', internal: true })
  const topics: Record<string, unknown> = {}
  for (const name of names.filter(name => !own.has(name))) {
    const { id, configs, partitions } = await side.describe(name)
    const internal = name.startsWith('__')
    // The coordinators of a node that starts may append to their topics.
    topics[name] = internal
      ? { id, configs, partitions: partitions.length }
      : {
          id,
          configs,
          partitions,
          committed: await side.consume(name, { isolation: 'read_committed' }),
          all: await side.consume(name),
        }
  }
  const offsets: Record<string, unknown> = {}
  for (const group of groups) offsets[group] = await call('admin-groups', { op: 'offsets', group })
  const keys = ['log.retention.ms', 'message.max.bytes']
  return {
    topics,
    groups: await call('admin-groups', { op: 'list' }),
    offsets,
    transactions: await call('admin-transactions', { op: 'describe', ids: transactionalIds }),
    acls: await call('admin-security', { op: 'acls', filter: [] }),
    credentials: await call('admin-security', { op: 'scram' }),
    brokerConfigs: await call('admin-topics', { op: 'configs', type: 'broker', name: '', keys }),
  }
}
