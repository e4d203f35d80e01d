/** The ACLs that a link created (our own addition, rest-and-cli §B). */
import { admit, type RestApp, type RestContext, requireReady } from '../context.ts'
import { describeCluster } from '../ports.ts'
import { aclFields, LinkAclDataList } from '../schemas/acls.ts'
import { commonErrors, LinkParams, listOf } from '../schemas/envelope.ts'

export function linkAclRoutes(app: RestApp, context: RestContext): void {
  app.get(
    '/kafka/v3/clusters/:cluster_id/links/:link_name/acls',
    {
      schema: {
        summary: 'List the ACLs of this cluster that the link created and keeps in step',
        tags: ['links'],
        params: LinkParams,
        response: { 200: LinkAclDataList, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      requireReady(context)
      const link = request.params.link_name
      const self = `${base}/links/${link}/acls`
      const data = context.engine.listOwnedAcls(link).map(acl => ({
        kind: 'KafkaLinkAclData' as const,
        metadata: { self, resource_name: null },
        link_name: link,
        ...aclFields(acl),
        has_login: acl.hasLogin,
      }))
      return listOf('KafkaLinkAclDataList', self, data) satisfies LinkAclDataList
    },
  )
}
