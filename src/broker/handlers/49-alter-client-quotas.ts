/**
 * AlterClientQuotas (49), versions 0–1 (KIP-546); the dispatch table calls it.
 *
 * 0: baseline. 1: flexible.
 *
 * Each entity is answered for itself; a part that is given twice counts as it was given last. Needs ALTER_CONFIGS on the cluster.
 */
import type { QuotaEntity } from '../../metadata/quota-commands.ts'
import { AlterClientQuotasApi, type AlterClientQuotasRequest } from '../../protocol/messages/49-alter-client-quotas.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

export const alterClientQuotas = handlerOf(AlterClientQuotasApi, {
  versions: { min: 0, max: 1 },
  async handle(broker, { entries, validateOnly }, origin) {
    requireAllowedOnCluster(broker, origin, 'ALTER_CONFIGS')
    const alterations = entries.map(entry => ({
      entity: entityOf(entry),
      changes: entry.ops.map(({ key, value, remove }) => ({ key, value: remove ? null : value })),
    }))
    const results = await broker.controller.quotas.alterClientQuotas(alterations, { validateOnly })
    return { throttleTimeMs: 0, entries: results.map(({ entity, ...error }) => ({ ...error, entity: onWire(entity) })) }
  },
  failed: ({ entries }, errorCode) => ({
    throttleTimeMs: 0,
    entries: entries.map(entry => ({ errorCode, errorMessage: null, entity: onWire(entityOf(entry)) })),
  }),
})

const entityOf = ({ entity }: AlterClientQuotasRequest['entries'][number]): QuotaEntity =>
  Array.from(new Map(entity.map(({ entityType, entityName }) => [entityType, entityName])), ([type, name]) => ({
    type,
    name,
  }))

const onWire = (entity: QuotaEntity) =>
  entity.map(({ type: entityType, name: entityName }) => ({ entityType, entityName }))
