/**
 * DescribeLogDirs (35), versions 1–5; the dispatch table calls it.
 *
 * 1: baseline. 2: flexible. 3: error of the whole answer. 4: space of the volume (KIP-827). 5: cordoned directories (KIP-1066).
 *
 * This node has one data directory and every partition's log is in it. Without topics in the request all partitions are told;
 * partitions that are not here are left out. A leader has no lag. Needs DESCRIBE on the cluster.
 */
import { messageOf } from '../../core/errors.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { DescribeLogDirsApi, type DescribeLogDirsRequest } from '../../protocol/messages/35-describe-log-dirs.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { type BrokerContext, handlerOf } from '../handler.ts'

const UNKNOWN_SPACE = { totalBytes: -1n, usableBytes: -1n }

export const describeLogDirs = handlerOf(DescribeLogDirsApi, {
  versions: { min: 1, max: 5 },
  async handle(broker, request, origin) {
    requireAllowedOnCluster(broker, origin, 'DESCRIBE')
    const topics = [...logsByTopic(broker, request)].map(([name, partitions]) => ({ name, partitions }))
    const { path } = broker.logDirectory
    const result = { errorCode: ErrorCode.NONE, logDir: path, topics, ...(await spaceOf(broker)), isCordoned: false }
    return { throttleTimeMs: 0, errorCode: ErrorCode.NONE, results: [result] }
  },
  failed: (_request, errorCode) => ({ throttleTimeMs: 0, errorCode, results: [] }),
})

interface PartitionSize {
  readonly partitionIndex: number
  readonly partitionSize: bigint
  readonly offsetLag: bigint
  readonly isFutureKey: boolean
}

function logsByTopic({ replicas }: BrokerContext, { topics }: DescribeLogDirsRequest): Map<string, PartitionSize[]> {
  const asked =
    topics && new Set(topics.flatMap(({ topic, partitions }) => partitions.map(index => `${topic}-${index}`)))
  const found = new Map<string, PartitionSize[]>()
  for (const { topic, index, name, log } of replicas.hosted) {
    if (asked && !asked.has(name)) continue
    const sizes = found.get(topic) ?? []
    found.set(topic, sizes)
    sizes.push({ partitionIndex: index, partitionSize: BigInt(log.sizeBytes), offsetLag: 0n, isFutureKey: false })
  }
  return found
}

async function spaceOf({ logDirectory, logger }: BrokerContext): Promise<typeof UNKNOWN_SPACE> {
  try {
    return await logDirectory.space()
  } catch (error) {
    logger.warn(`the space of ${logDirectory.path} is unknown: ${messageOf(error)}`)
    return UNKNOWN_SPACE
  }
}
