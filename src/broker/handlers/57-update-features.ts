/**
 * UpdateFeatures (57), versions 0–2 (KIP-584); the dispatch table calls it.
 *
 * 0: flexible from the start; a flag allows downgrades. 1: upgrade types 1 upgrade, 2 safe and 3 unsafe downgrade, validation only.
 * 2: no results per feature: all are updated or none (KIP-1022).
 *
 * The controller decides. A refusal is INVALID_UPDATE_VERSION for the whole request. Whoever works by a feature reads its level
 * from the image.
 */
import type { FeatureUpdate, UpgradeType } from '../../metadata/cluster-commands.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { UpdateFeaturesApi, type UpdateFeaturesRequest } from '../../protocol/messages/57-update-features.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

const WHOLE_ANSWER_VERSION = 2

const upgradeTypes: Readonly<Record<number, UpgradeType>> = {
  1: 'upgrade',
  2: 'safe-downgrade',
  3: 'unsafe-downgrade',
}

export const updateFeatures = handlerOf(UpdateFeaturesApi, {
  versions: { min: 0, max: 2 },
  async handle(broker, request, origin) {
    requireAllowedOnCluster(broker, origin, 'ALTER')
    const { version } = origin
    const { featureUpdates, validateOnly } = request
    const updates = featureUpdates.map(update => updateOf(update, version))
    const { errorCode, errorMessage } = await broker.controller.cluster.updateFeatures(updates, { validateOnly })
    const single = version < WHOLE_ANSWER_VERSION && errorCode === ErrorCode.NONE
    const results = single
      ? featureUpdates.map(({ feature }) => ({ feature, errorCode: ErrorCode.NONE, errorMessage: null }))
      : []
    return { throttleTimeMs: 0, errorCode, errorMessage, results }
  },
  failed: (_request, errorCode) => ({ throttleTimeMs: 0, errorCode, errorMessage: null, results: [] }),
})

function updateOf(update: UpdateFeaturesRequest['featureUpdates'][number], version: number): FeatureUpdate {
  const { feature, maxVersionLevel: level, allowDowngrade, upgradeType } = update
  if (version === 0) return { feature, level, upgradeType: allowDowngrade ? 'safe-downgrade' : 'upgrade' }
  return { feature, level, upgradeType: upgradeTypes[upgradeType] ?? 'unknown' }
}
