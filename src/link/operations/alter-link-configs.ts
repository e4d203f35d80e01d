/** Changes properties of a live link; its connections and mirrors follow at once. Called by the engine for REST. */
import { type AlteredConfigs, alterConfigs } from '../configs/alter-configs.ts'
import { LinkConfigs } from '../configs/link-configs.ts'
import type { AlterLinkReport, LinkConfigChange } from '../engine-api.ts'
import { linkError } from '../errors.ts'
import type { SecretBox } from '../secret-box.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import { type OperationContext, requireLink } from './operation-context.ts'

/** Resolves when the new properties hold. Rejects without a change if one of them is refused. */
export async function alterLinkConfigs(
  context: OperationContext,
  subject: { link: string; changes: readonly LinkConfigChange[] },
  options: { validateOnly: boolean },
): Promise<AlterLinkReport> {
  const link = requireLink(context, subject.link)
  const decide = (current: LinkRecord): AlteredConfigs => decided(current, subject.changes, context.secrets)
  let altered = decide(link)
  if (!options.validateOnly) {
    const updated = await context.linkChanges.update(link.linkId, current => {
      altered = decide(current)
      return isSame(current.configs, altered.configs.overrides)
        ? current
        : { ...current, configs: altered.configs.overrides }
    })
    if (!updated) throw linkError('LINK_NOT_FOUND', { link: link.name })
    const keys = subject.changes.map(({ name }) => name)
    context.logger.info('link properties changed', { link: link.name, keys, cleared: altered.cleared })
    await context.reconcile()
  }
  return { warnings: altered.warnings, cleared: altered.cleared }
}

function decided(
  link: LinkRecord,
  changes: readonly LinkConfigChange[],
  secrets: SecretBox | undefined,
): AlteredConfigs {
  if (link.deletingSinceMs !== undefined) throw linkError('LINK_BEING_DELETED', { link: link.name })
  return alterConfigs(new LinkConfigs(link.configs), changes, secrets)
}

const isSame = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value)
