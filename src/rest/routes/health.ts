/** Process-level endpoints: /healthz, /readyz, /metrics and /openapi.json. */

import { Type } from 'typebox'
import { type RestApp, type RestContext, requireAccess } from '../context.ts'
import { linkMetrics } from '../metrics.ts'
import { describeCluster } from '../ports.ts'
import { Flag } from '../schemas/envelope.ts'

export function healthRoutes(app: RestApp, context: RestContext): void {
  app.get('/healthz', { schema: { summary: 'The process is up', tags: ['node'] } }, () => ({ status: 'up' }))

  app.get(
    '/readyz',
    { schema: { summary: 'Metadata and link state are caught up', tags: ['node'] } },
    (_request, reply) => {
      const reasons = context.health.notReadyReasons()
      if (reasons.length > 0) reply.status(503).header('retry-after', '1')
      return reply.send({ status: reasons.length === 0 ? 'ready' : 'not ready', reasons })
    },
  )

  app.get(
    '/metrics',
    {
      schema: {
        summary: 'Figures in Prometheus text form; per_partition=false joins those of partitions to those of topics',
        tags: ['node'],
        querystring: Type.Object({ per_partition: Flag }),
      },
    },
    async (request, reply) => {
      if (!context.login.metricsOpen) requireAccess(context, request, [describeCluster])
      const perPartition = request.query.per_partition !== 'false'
      const parts = await Promise.all(context.metrics.map(source => source.text()))
      const text = [linkMetrics(context.engine, { perPartition }), ...parts].map(part => part.trimEnd()).join('\n')
      return reply.type('text/plain; version=0.0.4; charset=utf-8').send(`${text}\n`)
    },
  )

  app.get('/openapi.json', { schema: { summary: 'This API as OpenAPI', tags: ['node'] } }, () => app.swagger())
}
