/** The command of the controller about client quotas; part of the Controller port, asked by AlterClientQuotas. */
import type { ApiError } from './api-error.ts'

/** Whom a quota is about: parts of the types `user`, `client-id` or `ip`; a name of null is the default entity. */
export type QuotaEntity = readonly { readonly type: string; readonly name: string | null }[]

export interface QuotaAlteration {
  readonly entity: QuotaEntity
  /** A value of null takes the quota away. */
  readonly changes: readonly { readonly key: string; readonly value: number | null }[]
}

export interface QuotaCommands {
  /** One result per entity; an entity that is refused keeps its quotas, the others are changed. */
  alterClientQuotas(
    alterations: readonly QuotaAlteration[],
    options: { readonly validateOnly: boolean },
  ): Promise<(ApiError & { readonly entity: QuotaEntity })[]>
}
