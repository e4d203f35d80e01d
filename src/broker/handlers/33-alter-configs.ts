/**
 * AlterConfigs (33), versions 0–2; the dispatch table calls it. Superseded by IncrementalAlterConfigs, but older clients use it.
 *
 * 0, 1: the same. 2: flexible.
 *
 * The configs given replace all overrides of the resource: what is not named is deleted, which counts as altered where a link
 * copies it. Everything else is as in IncrementalAlterConfigs.
 */
import { ConfigResourceType, configOverrides, type MetadataImage } from '../../metadata/metadata-image.ts'
import { AlterConfigsApi, type AlterConfigsRequest } from '../../protocol/messages/33-alter-configs.ts'
import { type AskedAlteration, alterConfigs, answerOf, checkKeys, invalid } from '../config-alterations.ts'
import { handlerOf } from '../handler.ts'

type Resource = AlterConfigsRequest['resources'][number]

export const legacyAlterConfigs = handlerOf(AlterConfigsApi, {
  versions: { min: 0, max: 2 },
  async handle(broker, request, origin) {
    const { validateOnly, resources } = request
    const asked = resources.map(resource => alterationOf(resource, origin.image))
    return { throttleTimeMs: 0, responses: await alterConfigs(broker, asked, { origin, validateOnly }) }
  },
  failed: (request, errorCode) => ({
    throttleTimeMs: 0,
    responses: request.resources.map(resource =>
      answerOf({ type: resource.resourceType, name: resource.resourceName }, { errorCode, errorMessage: null }),
    ),
  }),
})

function alterationOf(asked: Resource, image: MetadataImage): AskedAlteration {
  const { resourceType: type, resourceName: name, configs } = asked
  const resource = { type, name }
  return {
    resource,
    changes() {
      if (type === ConfigResourceType.BROKER_LOGGER) throw invalid(`Unknown resource type ${type}`)
      const withoutValue = configs.filter(({ value }) => value === null)
      checkKeys(
        configs,
        withoutValue.map(config => config.name),
      )
      const before = configOverrides(image, resource)
      const kept = new Set(configs.map(config => config.name))
      return [
        // What stays as it is needs no change, and none of the write gate's leave.
        ...configs.flatMap(({ name: key, value }) =>
          before.get(key) === value ? [] : [{ key, operation: 'set' as const, value }],
        ),
        ...[...before.keys()]
          .filter(key => !kept.has(key))
          .map(key => ({ key, operation: 'delete' as const, value: null })),
      ]
    },
  }
}
