/** Figures of a node's membership in the cluster it joined, for /metrics; the composition root and the page of the docs call it. */
import { Counter, Gauge, Registry } from 'prom-client'
import type { ClusterMembership } from '../../controller/joined/cluster-membership.ts'
import type { MetadataObserver } from '../../controller/joined/metadata-observer.ts'
import { lockstepNodes } from '../../metadata/lockstep-nodes.ts'
import type { MetricsSource } from '../../rest/ports.ts'

export interface MembershipFigures {
  readonly nodeId: number
  readonly observer: Pick<MetadataObserver, 'image' | 'lag' | 'failure'>
  readonly membership: Pick<ClusterMembership, 'brokerEpoch' | 'heartbeatAgeMs' | 'lastHeartbeat' | 'stallsTotal'>
}

export function membershipMetrics({ nodeId, observer, membership }: MembershipFigures): MetricsSource {
  const registry = new Registry()
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `lockstep_membership_${name}`, help, registers: [registry] })
  const registered = gauge('registered', 'Is this node a registered broker of the cluster it joined? 1 or 0')
  const fenced = gauge('fenced', 'Does the controller keep this node from leading? 1 or 0')
  const age = gauge(
    'heartbeat_age_seconds',
    'Time since the controller answered a heartbeat; -1 before the first. Alert well below broker.session.timeout.ms',
  )
  const offset = gauge('metadata_offset', 'Last offset of the metadata log that all parts of this node have followed')
  const lag = gauge(
    'metadata_lag',
    'Committed records of the metadata log that this node has not followed yet, as far as it knows',
  )
  const stopped = gauge('metadata_stopped', 'Has this node given up following the metadata? 1: upgrade it')
  const stalled = new Gauge({
    name: 'lockstep_main_loop_stalled',
    help: 'Did the last heartbeat ask to be fenced, since the main thread stood still? 1 or 0. A thread that still stands answers no scrape: see lockstep_node_fenced of other nodes',
    registers: [registry],
  })
  const stalls = new Counter({
    name: 'lockstep_main_loop_stalls_total',
    help: 'How often the main thread stood still so long that the node asked to be fenced, since the start',
    registers: [registry],
  })
  const nodes = new Gauge({
    name: 'lockstep_node_fenced',
    help: 'Does the cluster keep this Lockstep node from leading, as the node that is asked knows it? 1 or 0, for every registered one',
    labelNames: ['node'],
    registers: [registry],
  })
  return {
    text: () => {
      const { image } = observer
      const { lastHeartbeat } = membership
      stalled.set(lastHeartbeat?.kind === 'answered' && lastHeartbeat.hung ? 1 : 0)
      stalls.reset()
      stalls.inc(membership.stallsTotal)
      nodes.reset()
      for (const { brokerId, fenced } of lockstepNodes(image)) nodes.set({ node: String(brokerId) }, fenced ? 1 : 0)
      registered.set(membership.brokerEpoch >= 0 ? 1 : 0)
      fenced.set((image.brokers.get(nodeId)?.fenced ?? true) ? 1 : 0)
      age.set((membership.heartbeatAgeMs ?? -1000) / 1000)
      offset.set(image.offset)
      lag.set(observer.lag)
      stopped.set(observer.failure === undefined ? 0 : 1)
      return registry.metrics()
    },
  }
}
