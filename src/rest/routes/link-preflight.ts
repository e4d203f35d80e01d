/** `POST /links:preflight`: everything that the creation of a link checks, as a list (rest-and-cli §B). */
import { Type } from 'typebox'
import { admit, type RestApp, type RestContext, requireReady } from '../context.ts'
import { alterCluster } from '../ports.ts'
import { ClusterParams, commonErrors } from '../schemas/envelope.ts'
import { CreateLinkBody } from '../schemas/links.ts'
import { LinkPreflight } from '../schemas/preflight.ts'
import { createRequest } from './links.ts'

/** Stands for the name of a link that has none yet. */
const UNNAMED = 'unnamed-preflight'

export function linkPreflightRoutes(app: RestApp, context: RestContext): void {
  app.post(
    '/kafka/v3/clusters/:cluster_id/links::preflight',
    {
      schema: {
        summary: 'Check what the creation of a link would check',
        tags: ['links'],
        params: ClusterParams,
        querystring: Type.Object({ link_name: Type.Optional(Type.String({ minLength: 1 })) }),
        body: CreateLinkBody,
        response: { 200: LinkPreflight, ...commonErrors },
      },
    },
    async request => {
      admit(context, request, [alterCluster])
      requireReady(context)
      const checks = await context.engine.preflightLink(createRequest(request.query.link_name ?? UNNAMED, request.body))
      const results = checks.map(({ name, state, message, hint }) => ({ name, state, message, hint }))
      const ok = results.every(({ state }) => state !== 'FAILED')
      return { kind: 'KafkaLinkPreflight', ok, results } satisfies LinkPreflight
    },
  )
}
