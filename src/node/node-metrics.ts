/** Figures of the process itself (memory, event loop, garbage collection) for /metrics. */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { MetricsSource } from '../rest/ports.ts'

export function nodeMetrics(version: string): MetricsSource {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const info = new Gauge({
    name: 'lockstep_info',
    help: 'Version of the node',
    labelNames: ['version'],
    registers: [registry],
  })
  info.set({ version }, 1)
  return { text: () => registry.metrics() }
}
