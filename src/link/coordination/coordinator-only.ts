/** The destination as the engine uses it: what changes the cluster is begun by the link coordinator alone, and looked at right before (design §3). Made by the engine. */
import { type Destination, NotLinkCoordinator, type WriteFence } from '../ports.ts'

/** Methods by which a coordinator that was deposed could get in the way of its successor. */
const changing = [
  'alterTopicConfigs',
  'createTopic',
  'createPartitions',
  'raiseProducerIds',
  'commitGroupOffsets',
  'createAcls',
  'deleteAcls',
  'abortTransactions',
] as const satisfies readonly (keyof Destination)[]

const changingOfFence = [
  'restore',
  'stage',
  'unstage',
  'shut',
  'enclose',
  'release',
] as const satisfies readonly (keyof WriteFence)[]

/** These calls reject with NotLinkCoordinator where `coordinates` says no. */
export function coordinatorOnly(destination: Destination, coordinates: () => boolean): Destination {
  const fence = guarded(destination.fence, { names: changingOfFence, coordinates })
  return guarded(destination, { names: changing, coordinates, others: { fence } })
}

function guarded<T extends object>(
  of: T,
  by: { names: readonly (keyof T)[]; coordinates: () => boolean; others?: Partial<T> },
): T {
  const replaced = new Map<PropertyKey, unknown>(Object.entries(by.others ?? {}))
  for (const name of by.names) {
    const call = of[name] as ((...given: unknown[]) => Promise<unknown>) | undefined
    if (!call) continue
    replaced.set(name, async (...given: unknown[]) => {
      if (!by.coordinates()) throw new NotLinkCoordinator('this node is not the link coordinator')
      return await call.apply(of, given)
    })
  }
  return new Proxy(of, {
    get(target, name) {
      if (replaced.has(name)) return replaced.get(name)
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
