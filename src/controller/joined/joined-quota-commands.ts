/** Client quotas as a request to the active controller. Part of the joined Controller. */
import type { QuotaCommands } from '../../metadata/quota-commands.ts'
import { AlterClientQuotasApi } from '../../protocol/messages/49-alter-client-quotas.ts'
import type { Forwarding } from './forwarded-commands.ts'

export const joinedQuotaCommands = (forwarding: Forwarding): QuotaCommands => ({
  async alterClientQuotas(alterations, { validateOnly }) {
    const { entries } = await forwarding.change(
      AlterClientQuotasApi,
      {
        entries: alterations.map(({ entity, changes }) => ({
          entity: entity.map(({ type: entityType, name: entityName }) => ({ entityType, entityName })),
          ops: changes.map(({ key, value }) => ({ key, value: value ?? 0, remove: value === null })),
        })),
        validateOnly,
      },
      { codes: ({ entries }) => entries.map(({ errorCode }) => errorCode), repeatable: true },
    )
    return entries.map(({ errorCode, errorMessage, entity }) => ({
      errorCode,
      errorMessage,
      entity: entity.map(({ entityType: type, entityName: name }) => ({ type, name })),
    }))
  },
})
