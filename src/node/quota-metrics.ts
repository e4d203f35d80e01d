/** Figures of client quotas for /metrics; the composition root and the page of the docs call it. */
import { Gauge, Registry } from 'prom-client'
import type { ClientQuotas } from '../broker/quotas/client-quotas.ts'
import { clientQuotaKeys } from '../metadata/client-quotas.ts'
import type { MetricsSource } from '../rest/ports.ts'

export function quotaMetrics(quotas: Pick<ClientQuotas, 'figures'>): MetricsSource {
  const registry = new Registry()
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `lockstep_${name}`, help, labelNames: ['quota'], registers: [registry] })
  const requests = gauge('quota_throttled_requests', 'Requests since the start whose client was told to pause')
  const seconds = gauge('quota_throttle_seconds', 'Pauses that clients were told since the start, together')
  return {
    text: () => {
      for (const quota of clientQuotaKeys) {
        const told = quotas.figures(quota)
        requests.set({ quota }, told.requests)
        seconds.set({ quota }, told.ms / 1000)
      }
      return registry.metrics()
    },
  }
}
