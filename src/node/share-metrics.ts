/** Figures of share groups for /metrics: what their members hold and what is written about it; the composition root and the page of the docs call it. */
import { Gauge, Registry } from 'prom-client'
import type { ShareFigures } from '../coordinator/share-partitions/share-partitions.ts'
import type { MetricsSource } from '../rest/ports.ts'

export interface ShareMetricsFigures {
  partitions(): ShareFigures
  /** Of the share coordinator. */
  state(): { readonly states: number; readonly writes: number }
}

export function shareMetrics(figures: ShareMetricsFigures): MetricsSource {
  const registry = new Registry()
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `lockstep_share_${name}`, help, registers: [registry] })
  const partitions = gauge('partitions', 'Partitions that share groups read now, one for each group')
  const acquired = gauge('acquired_records', 'Records that members of share groups hold')
  const delivered = gauge('delivered_records', 'Records given to members of share groups since the start')
  const acknowledged = gauge(
    'acknowledged_records',
    'Records of which members of share groups said what became of them',
  )
  const states = gauge('states', 'Partitions of share groups whose state this node coordinates')
  const writes = gauge('state_records', 'Records written to __share_group_state since the start')
  return {
    text: () => {
      const ofPartitions = figures.partitions()
      partitions.set(ofPartitions.partitions)
      acquired.set(ofPartitions.acquired)
      delivered.set(ofPartitions.delivered)
      acknowledged.set(ofPartitions.acknowledged)
      const ofState = figures.state()
      states.set(ofState.states)
      writes.set(ofState.writes)
      return registry.metrics()
    },
  }
}
