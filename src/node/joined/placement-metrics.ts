/** Figures of where partitions live in a joined cluster for /metrics; the composition root and the page of the docs call it. */
import { Counter, Gauge, Registry } from 'prom-client'
import type { Evictor } from '../../controller/joined/placement/evictor.ts'
import type { JavaReplicas } from '../../controller/joined/placement/java-replicas.ts'
import type { MirrorWatch } from '../../controller/joined/placement/mirror-watch.ts'
import type { MetricsSource } from '../../rest/ports.ts'

export interface PlacementFigures {
  readonly evictor: Pick<Evictor, 'foreignPartitions' | 'evictedTotal' | 'failuresTotal'>
  readonly watch: Pick<MirrorWatch, 'misplacedPartitions' | 'begunTotal' | 'returnedTotal'>
  readonly javaReplicas: () => JavaReplicas
}

export function placementMetrics({ evictor, watch, javaReplicas }: PlacementFigures): MetricsSource {
  const registry = new Registry()
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `lockstep_${name}`, help, labelNames, registers: [registry] })
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `lockstep_${name}`, help, labelNames, registers: [registry] })
  const foreign = gauge('foreign_partitions', 'Partitions on Lockstep nodes that are neither mirrors nor of Lockstep')
  const evicted = counter('foreign_partitions_moved_total', 'Foreign partitions that left since the start')
  const failures = counter('foreign_partition_failures_total', 'Attempts to move foreign partitions away that failed')
  const misplaced = gauge(
    'mirror_partitions_misplaced',
    'Mirror partitions that are not led by their preferred Lockstep node, by condition: LED_BY_KAFKA needs attention if it lasts',
    ['condition'],
  )
  const begun = counter('mirror_partition_misplacements_total', 'How often such a condition began', ['condition'])
  const returned = counter('mirror_leaderships_returned_total', 'Leaderships that this node took back from others')
  const javaIsr = gauge(
    'mirror_java_isr',
    'Kafka brokers in the ISR of the worst partition of a mirror, of those partitions that this node leads',
    ['topic'],
  )
  const belowMin = gauge(
    'mirror_partitions_below_min_java_isr',
    'Mirror partitions led by this node that have fewer Kafka brokers in their ISR than min.insync.replicas: a promote would wait',
  )
  return {
    text: () => {
      // What is counted elsewhere is told anew each time.
      for (const told of [evicted, failures, begun, returned, javaIsr]) told.reset()
      foreign.set(evictor.foreignPartitions().length)
      evicted.inc(evictor.evictedTotal)
      failures.inc(evictor.failuresTotal)
      const counts = Map.groupBy(watch.misplacedPartitions(), ({ condition }) => condition)
      for (const [condition, count] of watch.begunTotal) {
        begun.inc({ condition }, count)
        misplaced.set({ condition }, counts.get(condition)?.length ?? 0)
      }
      returned.inc(watch.returnedTotal)
      const { fewest, below } = javaReplicas()
      for (const [topic, inSync] of fewest) javaIsr.set({ topic }, inSync)
      belowMin.set(below)
      return registry.metrics()
    },
  }
}
