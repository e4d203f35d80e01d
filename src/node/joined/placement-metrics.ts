/** Figures of where partitions live in a joined cluster for /metrics; the composition root and the page of the docs call it. */
import { Gauge, Registry } from 'prom-client'
import type { Evictor } from '../../controller/joined/placement/evictor.ts'
import type { MirrorWatch } from '../../controller/joined/placement/mirror-watch.ts'
import type { MetricsSource } from '../../rest/ports.ts'

export interface PlacementFigures {
  readonly evictor: Pick<Evictor, 'foreignPartitions' | 'evictedTotal' | 'failuresTotal'>
  readonly watch: Pick<MirrorWatch, 'misplacedPartitions' | 'begunTotal' | 'returnedTotal'>
}

export function placementMetrics({ evictor, watch }: PlacementFigures): MetricsSource {
  const registry = new Registry()
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `lockstep_${name}`, help, labelNames, registers: [registry] })
  const foreign = gauge('foreign_partitions', 'Partitions on Lockstep nodes that are neither mirrors nor of Lockstep')
  const evicted = gauge('foreign_partitions_moved_total', 'Foreign partitions that left since the start')
  const failures = gauge('foreign_partition_failures_total', 'Attempts to move foreign partitions away that failed')
  const misplaced = gauge(
    'mirror_partitions_misplaced',
    'Mirror partitions that are not led by their preferred Lockstep node, by condition: LED_BY_KAFKA needs attention if it lasts',
    ['condition'],
  )
  const begun = gauge('mirror_partition_misplacements_total', 'How often such a condition began', ['condition'])
  const returned = gauge('mirror_leaderships_returned_total', 'Leaderships that this node took back from others')
  return {
    text: () => {
      foreign.set(evictor.foreignPartitions().length)
      evicted.set(evictor.evictedTotal)
      failures.set(evictor.failuresTotal)
      const counts = Map.groupBy(watch.misplacedPartitions(), ({ condition }) => condition)
      for (const [condition, count] of watch.begunTotal) {
        begun.set({ condition }, count)
        misplaced.set({ condition }, counts.get(condition)?.length ?? 0)
      }
      returned.set(watch.returnedTotal)
      return registry.metrics()
    },
  }
}
