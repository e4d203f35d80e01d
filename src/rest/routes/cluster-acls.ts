/** The plain v3 ACL resources: search, create one or several, delete. */
import { Type } from 'typebox'
import type { AclView, AclViewFilter } from '../cluster-ports.ts'
import { admit, type RestApp, type RestContext } from '../context.ts'
import { alterCluster, describeCluster } from '../ports.ts'
import {
  type AclData,
  AclDataList,
  type AclEntry,
  AclFilterQuery,
  aclFields,
  CreateAclBody,
  CreateAclsBody,
  DeleteAclsQuery,
  DeletedAcls,
} from '../schemas/acls.ts'
import { ClusterParams, commonErrors, listOf } from '../schemas/envelope.ts'

const ROOT = '/kafka/v3/clusters/:cluster_id/acls'

export function clusterAclRoutes(app: RestApp, context: RestContext): void {
  readRoute(app, context)
  createRoutes(app, context)
  deleteRoute(app, context)
}

function readRoute(app: RestApp, context: RestContext): void {
  app.get(
    ROOT,
    {
      schema: {
        summary: 'List ACLs that a filter matches',
        tags: ['acls'],
        params: ClusterParams,
        querystring: AclFilterQuery,
        response: { 200: AclDataList, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      const data = context.acls.list(filterOf(request.query)).map(acl => aclData(context, base, acl))
      return listOf('KafkaAclList', `${base}/acls`, data) satisfies AclDataList
    },
  )
}

function createRoutes(app: RestApp, context: RestContext): void {
  app.post(
    ROOT,
    {
      schema: {
        summary: 'Create an ACL; one that exists already is no error',
        tags: ['acls'],
        params: ClusterParams,
        body: CreateAclBody,
        response: { 201: Type.Null(), ...commonErrors },
      },
    },
    async (request, reply) => {
      admit(context, request, [alterCluster])
      await context.acls.create([entryOf(request.body)])
      return reply.status(201).serializer(noBody).send(null)
    },
  )

  app.post(
    `${ROOT}::batch`,
    {
      schema: {
        summary: 'Create several ACLs',
        tags: ['acls'],
        params: ClusterParams,
        body: CreateAclsBody,
        response: { 201: Type.Null(), ...commonErrors },
      },
    },
    async (request, reply) => {
      admit(context, request, [alterCluster])
      await context.acls.create(request.body.data.map(entryOf))
      return reply.status(201).serializer(noBody).send(null)
    },
  )
}

function deleteRoute(app: RestApp, context: RestContext): void {
  app.delete(
    ROOT,
    {
      schema: {
        summary: 'Delete the ACLs that a filter matches; what is not narrowed has to be said: ANY',
        tags: ['acls'],
        params: ClusterParams,
        querystring: DeleteAclsQuery,
        response: { 200: DeletedAcls, ...commonErrors },
      },
    },
    async request => {
      const base = admit(context, request, [alterCluster])
      const deleted = await context.acls.delete(filterOf(request.query))
      return { data: deleted.map(acl => aclData(context, base, acl)) }
    },
  )
}

/** Created, and nothing to say about it. */
const noBody = () => ''

type Fields = Readonly<AclEntry>

const entryOf = (fields: Fields): AclView => ({
  resourceType: fields.resource_type,
  resourceName: fields.resource_name,
  patternType: fields.pattern_type,
  principal: fields.principal,
  host: fields.host,
  operation: fields.operation,
  permission: fields.permission,
})

const filterOf = (fields: { readonly [K in keyof Fields]?: string }): AclViewFilter => ({
  resourceType: fields.resource_type,
  resourceName: fields.resource_name,
  patternType: fields.pattern_type,
  principal: fields.principal,
  host: fields.host,
  operation: fields.operation,
  permission: fields.permission,
})

/** An ACL has no name of its own: the filter that matches it alone is its address. */
function aclData(context: RestContext, base: string, acl: AclView): AclData {
  const fields = aclFields(acl)
  const self = `${base}/acls?${new URLSearchParams({ ...fields })}`
  return { kind: 'KafkaAcl', metadata: { self, resource_name: null }, cluster_id: context.cluster.clusterId, ...fields }
}
