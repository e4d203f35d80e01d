/** What a broker decides about altered configs before the controller does; the handlers of AlterConfigs and IncrementalAlterConfigs share it. */
import type { ConfigAlteration, ConfigResource } from '../metadata/controller-port.ts'
import { ConfigResourceType, configResourceKey, type MetadataImage } from '../metadata/metadata-image.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { requireConfigAccess } from './config-access.ts'
import { type BrokerContext, RequestFailure, type RequestOrigin } from './handler.ts'
import { alterLoggers } from './logger-configs.ts'
import { repeated } from './repeated.ts'

/** One resource of the request; `changes` throws RequestFailure where the resource is refused as a whole. */
export interface AskedAlteration {
  readonly resource: ConfigResource
  readonly changes: () => ConfigAlteration['changes']
}

export interface AlterationAnswer {
  readonly errorCode: number
  readonly errorMessage: string | null
  readonly resourceType: number
  readonly resourceName: string
}

const KNOWN_TYPES: ReadonlySet<number> = new Set(Object.values(ConfigResourceType))

/** One answer per resource. Needs ALTER_CONFIGS on the topic or group, or on the cluster for everything else. Configs that a link copies are refused by the write gate, whatever else is in the request. */
export async function alterConfigs(
  broker: BrokerContext,
  asked: readonly AskedAlteration[],
  of: { readonly origin: RequestOrigin; readonly validateOnly: boolean },
): Promise<AlterationAnswer[]> {
  const answers: AlterationAnswer[] = []
  const wanted: ConfigAlteration[] = []
  const twice = repeated(asked.map(({ resource }) => configResourceKey(resource)))
  for (const { resource, changes } of asked) {
    try {
      if (twice.has(configResourceKey(resource))) throw invalid('Each resource must appear at most once.')
      const alteration = { resource, changes: changes() }
      if (!KNOWN_TYPES.has(resource.type)) throw invalid(`Unknown resource type ${resource.type}`)
      // In Kafka's order: whose loggers they are is looked at behind the rights, whose configs before them.
      const isLogger = resource.type === ConfigResourceType.BROKER_LOGGER
      if (!isLogger) checkBroker(broker, resource)
      requireConfigAccess(broker, of.origin, { resource, operation: 'ALTER_CONFIGS' })
      askGate(broker, of.origin.image, alteration)
      if (isLogger) {
        checkBroker(broker, resource)
        // Levels live as long as this process and are nobody else's business.
        alterLoggers(broker.loggers, alteration.changes, of)
        answers.push(answerOf(resource, { errorCode: ErrorCode.NONE, errorMessage: null }))
      } else wanted.push(alteration)
    } catch (error) {
      if (!(error instanceof RequestFailure)) throw error
      answers.push(answerOf(resource, { errorCode: error.errorCode, errorMessage: error.message }))
    }
  }
  if (wanted.length === 0) return answers
  const { validateOnly } = of
  const altered = await broker.controller.incrementalAlterConfigs(wanted, { validateOnly })
  return [...answers, ...altered.map(({ resource, ...error }) => answerOf(resource, error))]
}

/** The answer for one resource. */
export const answerOf = (
  { type, name }: ConfigResource,
  { errorCode, errorMessage }: Pick<AlterationAnswer, 'errorCode' | 'errorMessage'>,
): AlterationAnswer => ({ errorCode, errorMessage, resourceType: type, resourceName: name })

/** Refuses keys that occur twice, and values that are missing. */
export function checkKeys(configs: readonly { readonly name: string }[], withoutValue: readonly string[]): void {
  if (repeated(configs.map(({ name }) => name)).size > 0) throw invalid('Error due to duplicate config keys')
  if (withoutValue.length > 0) throw invalid(`Null value not supported for : ${withoutValue.join(', ')}`)
}

export const invalid = (message: string) => new RequestFailure(ErrorCode.INVALID_REQUEST, message)

/** Configs of one broker are altered at that broker, which checks them against what it runs with. */
function checkBroker({ brokerId }: BrokerContext, { type, name }: ConfigResource): void {
  if (type !== ConfigResourceType.BROKER && type !== ConfigResourceType.BROKER_LOGGER) return
  if (type === ConfigResourceType.BROKER && name === '') return
  if (!/^-?\d+$/.test(name)) throw invalid(`Node id must be an integer, but it is: ${name}`)
  if (Number(name) !== brokerId) throw invalid(`Unexpected broker id, expected ${brokerId}, but received ${name}`)
}

function askGate({ writeGate }: BrokerContext, image: MetadataImage, { resource, changes }: ConfigAlteration): void {
  const id = resource.type === ConfigResourceType.TOPIC ? image.topicIds.get(resource.name) : undefined
  if (id === undefined) return
  const refusal = writeGate.refusal(id, resource.name, { alterConfigs: changes.map(({ key }) => key) })
  if (refusal) throw new RequestFailure(refusal.errorCode, refusal.message)
}
