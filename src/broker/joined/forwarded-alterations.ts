/**
 * AlterConfigs, IncrementalAlterConfigs and CreatePartitions of a joined node: passed on to the controller, but for what is this
 * process's own and what a link keeps for itself. Rows of the joined table.
 */
import { ConfigResourceType } from '../../metadata/metadata-image.ts'
import { AlterConfigsApi } from '../../protocol/messages/33-alter-configs.ts'
import { CreatePartitionsApi } from '../../protocol/messages/37-create-partitions.ts'
import { IncrementalAlterConfigsApi } from '../../protocol/messages/44-incremental-alter-configs.ts'
import type { BrokerContext, Handler } from '../handler.ts'
import { partlyForwarded } from './partly-forwarded.ts'

interface AlteredResource {
  readonly resourceType: number
  readonly resourceName: string
  readonly configs: readonly { readonly name: string }[]
}

/** What concerns only this process (its loggers) or another broker, and what the write gate refuses, is judged here. */
function isJudgedHere(broker: BrokerContext, { resourceType, resourceName, configs }: AlteredResource): boolean {
  if (resourceType === ConfigResourceType.BROKER_LOGGER) return true
  if (resourceType === ConfigResourceType.TOPIC)
    return isRefused(broker, resourceName, { alterConfigs: configs.map(({ name }) => name) })
  return resourceType === ConfigResourceType.BROKER && resourceName !== '' && resourceName !== String(broker.brokerId)
}

function isRefused(
  { controller, writeGate }: BrokerContext,
  topic: string,
  write: Parameters<BrokerContext['writeGate']['refusal']>[2],
): boolean {
  const topicId = controller.image.topicIds.get(topic)
  return topicId !== undefined && writeGate.refusal(topicId, topic, write) !== undefined
}

export const forwardedAlterConfigs = (row: Handler): Handler =>
  partlyForwarded(row, AlterConfigsApi, {
    items: request => request.resources,
    answers: response => response.responses,
    requestOf: (whole, resources) => ({ ...whole, resources: [...resources] }),
    responseOf: responses => ({ throttleTimeMs: 0, responses: [...responses] }),
    isJudgedHere,
  })

export const forwardedIncrementalAlterConfigs = (row: Handler): Handler =>
  partlyForwarded(row, IncrementalAlterConfigsApi, {
    items: request => request.resources,
    answers: response => response.responses,
    requestOf: (whole, resources) => ({ ...whole, resources: [...resources] }),
    responseOf: responses => ({ throttleTimeMs: 0, responses: [...responses] }),
    isJudgedHere,
  })

export const forwardedCreatePartitions = (row: Handler): Handler =>
  partlyForwarded(row, CreatePartitionsApi, {
    items: request => request.topics,
    requestOf: (whole, topics) => ({ ...whole, topics: [...topics] }),
    answers: response => response.results,
    responseOf: results => ({ throttleTimeMs: 0, results: [...results] }),
    isJudgedHere: (broker, { name }) => isRefused(broker, name, 'create-partitions'),
  })
