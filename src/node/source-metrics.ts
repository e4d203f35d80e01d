/** How long source clusters take to answer, for /metrics; the node hands its observer to the source factory. */
import { Histogram, Registry } from 'prom-client'
import type { MetricsSource } from '../rest/ports.ts'
import type { ObservedRequest } from '../source/observed-request.ts'

export interface SourceMetrics extends MetricsSource {
  observe(request: ObservedRequest): void
}

/** Links with series of their own: names that are only tried out leave some behind. */
const linksMax = 500
const clientIdPrefix = 'lockstep-link-'

export function sourceMetrics(): SourceMetrics {
  const registry = new Registry()
  const seconds = new Histogram({
    name: 'lockstep_source_request_seconds',
    help: 'Seconds until a broker of the source answered; fetches wait there for data, up to replica.fetch.wait.max.ms',
    // Names of apis would make too many series: fetches wait on purpose, everything else does not.
    labelNames: ['link', 'request'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  })
  const links = new Set<string>()
  return {
    observe: ({ clientId, api, ms }) => {
      const name = clientId.startsWith(clientIdPrefix) ? clientId.slice(clientIdPrefix.length) : clientId
      if (links.size < linksMax) links.add(name)
      const link = links.has(name) ? name : ''
      seconds.observe({ link, request: api.startsWith('Fetch') ? 'fetch' : 'other' }, ms / 1000)
    },
    text: () => registry.metrics(),
  }
}
