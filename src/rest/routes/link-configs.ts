/** Properties of links: L5 to L9 of rest-and-cli §1.2. */
import { Type } from 'typebox'
import type { AlterLinkReport, LinkConfigChange, LinkConfigView } from '../../link/engine-api.ts'
import { admit, type RestApp, type RestContext, requireReady } from '../context.ts'
import { restError } from '../errors.ts'
import { alterCluster, describeCluster } from '../ports.ts'
import { commonErrors, Flag, LinkConfigParams, LinkParams, listOf } from '../schemas/envelope.ts'
import {
  AlterLinkConfigsBody,
  LinkConfigData,
  LinkConfigDataList,
  LinkReport,
  SetLinkConfigBody,
} from '../schemas/links.ts'

const ROOT = '/kafka/v3/clusters/:cluster_id/links/:link_name/configs'

const changeAnswers = { 200: LinkReport, 204: Type.Null(), ...commonErrors }

export function linkConfigRoutes(app: RestApp, context: RestContext): void {
  readRoutes(app, context)
  batchRoute(app, context)
  singleRoutes(app, context)
}

function readRoutes(app: RestApp, context: RestContext): void {
  app.get(
    ROOT,
    {
      schema: {
        summary: "List a link's configuration",
        tags: ['links'],
        params: LinkParams,
        response: { 200: LinkConfigDataList, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      requireReady(context)
      const link = request.params.link_name
      const data = context.engine
        .describeLinkConfigs(link)
        .map(config => linkConfigData(config, { base, link, clusterId: context.cluster.clusterId }))
      return listOf('KafkaLinkConfigDataList', `${base}/links/${link}/configs`, data) satisfies LinkConfigDataList
    },
  )

  app.get(
    `${ROOT}/:config_name`,
    {
      schema: {
        summary: 'Describe one property of a link',
        tags: ['links'],
        params: LinkConfigParams,
        response: { 200: LinkConfigData, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      requireReady(context)
      const { link_name: link, config_name: name } = request.params
      const config = context.engine.describeLinkConfigs(link).find(found => found.name === name)
      if (!config) throw restError('CONFIG_NOT_FOUND', { name, of: 'cluster links' })
      return linkConfigData(config, { base, link, clusterId: context.cluster.clusterId })
    },
  )
}

function batchRoute(app: RestApp, context: RestContext): void {
  app.put(
    `${ROOT}::alter`,
    {
      schema: {
        summary: 'Change properties of a link, all or none',
        tags: ['links'],
        params: LinkParams,
        querystring: Type.Object({ validate_only: Flag, report: Flag }),
        body: AlterLinkConfigsBody,
        response: changeAnswers,
      },
    },
    async (request, reply) => {
      admit(context, request, [alterCluster])
      requireReady(context)
      const { body, query } = request
      const changes = body.data.map(({ name, value, operation }) => ({
        name,
        operation: operation ?? 'SET',
        value: value ?? null,
      }))
      const validateOnly = query.validate_only === 'true' || body.validate_only === true
      const report = await context.engine.alterLinkConfigs(request.params.link_name, changes, { validateOnly })
      return query.report === 'true' ? reply.send(reportData(report)) : reply.status(204).send(null)
    },
  )
}

function singleRoutes(app: RestApp, context: RestContext): void {
  app.put(
    `${ROOT}/:config_name`,
    {
      schema: {
        summary: 'Set one property of a link',
        tags: ['links'],
        params: LinkConfigParams,
        querystring: Type.Object({ report: Flag }),
        body: SetLinkConfigBody,
        response: changeAnswers,
      },
    },
    async (request, reply) => {
      admit(context, request, [alterCluster])
      requireReady(context)
      const { link_name: link, config_name: name } = request.params
      const change: LinkConfigChange = { name, operation: 'SET', value: request.body.value }
      const report = await context.engine.alterLinkConfigs(link, [change], { validateOnly: false })
      return request.query.report === 'true' ? reply.send(reportData(report)) : reply.status(204).send(null)
    },
  )

  app.delete(
    `${ROOT}/:config_name`,
    {
      schema: {
        summary: 'Reset one property of a link to its default',
        tags: ['links'],
        params: LinkConfigParams,
        querystring: Type.Object({ report: Flag }),
        response: changeAnswers,
      },
    },
    async (request, reply) => {
      admit(context, request, [alterCluster])
      requireReady(context)
      const { link_name: link, config_name: name } = request.params
      const change: LinkConfigChange = { name, operation: 'DELETE', value: null }
      const report = await context.engine.alterLinkConfigs(link, [change], { validateOnly: false })
      return request.query.report === 'true' ? reply.send(reportData(report)) : reply.status(204).send(null)
    },
  )
}

const reportData = ({ warnings, cleared }: AlterLinkReport): LinkReport => ({
  warnings: [...warnings],
  cleared_configs: [...cleared],
})

function linkConfigData(
  config: LinkConfigView,
  view: { base: string; link: string; clusterId: string },
): LinkConfigData {
  return {
    kind: 'KafkaLinkConfigData',
    metadata: { self: `${view.base}/links/${view.link}/configs/${config.name}`, resource_name: null },
    cluster_id: view.clusterId,
    name: config.name,
    value: config.isSensitive ? null : config.value,
    is_default: config.isDefault,
    is_read_only: config.isReadOnly,
    is_sensitive: config.isSensitive,
    source: config.isDefault ? 'DEFAULT_CONFIG' : 'DYNAMIC_CLUSTER_LINK_CONFIG',
    synonyms: [],
    link_name: view.link,
    type: config.type,
    default_value: config.defaultValue,
    allowed_values: config.allowed,
    documentation: config.documentation,
  }
}
