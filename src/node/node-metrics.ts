/** Figures of the process itself (memory, event loop, garbage collection) for /metrics. */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { MetricsSource } from '../rest/ports.ts'

/** `commit` = that of the build, if it is known. */
export function nodeMetrics({ version, commit = '' }: { version: string; commit?: string | undefined }): MetricsSource {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const info = new Gauge({
    name: 'lockstep_info',
    help: 'Version of the node, and the commit of its build (empty if unknown)',
    labelNames: ['version', 'commit'],
    registers: [registry],
  })
  info.set({ version, commit }, 1)
  return { text: () => registry.metrics() }
}
