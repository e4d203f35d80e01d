/**
 * IncrementalAlterConfigs (44), versions 0–1 (KIP-339); the dispatch table calls it.
 *
 * 0: baseline. 1: flexible.
 *
 * Operations 0 set, 1 delete, 2 append, 3 subtract (both for lists), per topic (2), broker (4; the empty name = all brokers), logger
 * of this node (8), client metrics subscription (16) or group (32).
 * Resources named twice, keys named twice and missing values are INVALID_REQUEST; configs that a link copies from its source
 * are POLICY_VIOLATION. A resource is altered as a whole or not at all. `validateOnly` changes nothing.
 */
import type { ConfigOperation } from '../../metadata/controller-port.ts'
import {
  IncrementalAlterConfigsApi,
  type IncrementalAlterConfigsRequest,
} from '../../protocol/messages/44-incremental-alter-configs.ts'
import { type AskedAlteration, alterConfigs, answerOf, checkKeys, invalid } from '../config-alterations.ts'
import { handlerOf } from '../handler.ts'

const operations: readonly ConfigOperation[] = ['set', 'delete', 'append', 'subtract']

type Resource = IncrementalAlterConfigsRequest['resources'][number]

export const incrementalAlterConfigs = handlerOf(IncrementalAlterConfigsApi, {
  versions: { min: 0, max: 1 },
  async handle(broker, request, origin) {
    const { validateOnly } = request
    const responses = await alterConfigs(broker, request.resources.map(alterationOf), { origin, validateOnly })
    return { throttleTimeMs: 0, responses }
  },
  failed: (request, errorCode) => ({
    throttleTimeMs: 0,
    responses: request.resources.map(resource =>
      answerOf({ type: resource.resourceType, name: resource.resourceName }, { errorCode, errorMessage: null }),
    ),
  }),
})

const alterationOf = ({ resourceType: type, resourceName: name, configs }: Resource): AskedAlteration => ({
  resource: { type, name },
  changes() {
    const withoutValue = configs.filter(({ value, configOperation }) => value === null && configOperation !== 1)
    checkKeys(
      configs,
      withoutValue.map(config => config.name),
    )
    return configs.map(({ name: key, configOperation, value }) => {
      const operation = operations[configOperation]
      if (!operation) throw invalid(`Unknown config operation ${configOperation} for ${key}`)
      return { key, operation, value }
    })
  },
})
