/** Turns random numbers into metadata records that make sense one after the other, for property tests of image and replay. */
import { type Random, seededRandom } from '../../core/random.ts'
import { type Uuid, uuidFromBytes } from '../../core/uuid.ts'
import { type MetadataRecord, MetadataRecordType as T } from '../../protocol/metadata-records/registry.ts'

interface Model {
  readonly random: Random
  readonly topics: Map<Uuid, { name: string; partitions: number }>
  readonly brokers: Map<number, bigint>
  readonly acls: Uuid[]
  made: number
}

type Maker = (model: Model) => MetadataRecord[]

const upTo = (model: Model, n: number): number => Math.floor(model.random() * n)

function pick<V>(model: Model, values: readonly V[]): V | undefined {
  return values[upTo(model, values.length)]
}

function newId(model: Model): Uuid {
  const bytes = Buffer.alloc(16)
  bytes.writeUInt32BE(++model.made, 12)
  bytes[0] = 1
  return uuidFromBytes(bytes)
}

const partition = (model: Model, topicId: Uuid, partitionId: number): MetadataRecord => ({
  type: T.Partition,
  version: 2,
  value: {
    partitionId,
    topicId,
    replicas: [1, 2],
    isr: [1, 2],
    removingReplicas: [],
    addingReplicas: [],
    leader: 1 + upTo(model, 2),
    leaderRecoveryState: 0,
    leaderEpoch: 0,
    partitionEpoch: 0,
    directories: [topicId, topicId],
    eligibleLeaderReplicas: null,
    lastKnownElr: null,
  },
})

const makers: readonly Maker[] = [
  model => {
    const topicId = newId(model)
    const partitions = 1 + upTo(model, 4)
    // Names come back after a deletion.
    const name = `topic-${upTo(model, 12)}`
    if ([...model.topics.values()].some(topic => topic.name === name)) return []
    model.topics.set(topicId, { name, partitions })
    const records: MetadataRecord[] = [{ type: T.Topic, version: 0, value: { name, topicId } }]
    for (let id = 0; id < partitions; id++) records.push(partition(model, topicId, id))
    return records
  },
  model => {
    const found = pick(model, [...model.topics])
    return found ? [partition(model, found[0], found[1].partitions++)] : []
  },
  model => {
    const found = pick(model, [...model.topics.keys()])
    if (found === undefined) return []
    model.topics.delete(found)
    return [{ type: T.RemoveTopic, version: 0, value: { topicId: found } }]
  },
  model => {
    const found = pick(model, [...model.topics])
    if (found === undefined) return []
    const value = {
      partitionId: upTo(model, found[1].partitions),
      topicId: found[0],
      isr: pick(model, [null, [1], [1, 2]]) ?? null,
      leader: pick(model, [-2, -1, 1, 2]) ?? -2,
      replicas: null,
      removingReplicas: null,
      addingReplicas: null,
      leaderRecoveryState: -1,
      directories: null,
      eligibleLeaderReplicas: pick(model, [null, [], [2]]) ?? null,
      lastKnownElr: null,
    }
    return [{ type: T.PartitionChange, version: 2, value }]
  },
  model => {
    const topic = pick(model, [...model.topics.values()])
    return [{ type: T.ClearElr, version: 0, value: { topicName: topic?.name ?? '' } }]
  },
  model => {
    const resourceName = pick(model, [...model.topics.values()])?.name ?? ''
    const value = pick(model, [null, '1', '2']) ?? null
    const resourceType = resourceName === '' ? 4 : 2
    return [{ type: T.Config, version: 0, value: { resourceType, resourceName, name: `key-${upTo(model, 3)}`, value } }]
  },
  model => {
    const brokerId = upTo(model, 4)
    const brokerEpoch = BigInt(++model.made)
    model.brokers.set(brokerId, brokerEpoch)
    const endPoints = [{ name: 'PLAINTEXT', host: 'localhost', port: 9092, securityProtocol: 0 }]
    const value = {
      brokerId,
      brokerEpoch,
      incarnationId: newId(model),
      endPoints,
      features: [{ name: 'metadata.version', minSupportedVersion: 7, maxSupportedVersion: 30 }],
      isMigratingZkBroker: false,
      rack: null,
      fenced: true,
      inControlledShutdown: false,
      logDirs: [newId(model)],
      cordonedLogDirs: null,
    }
    return [{ type: T.RegisterBroker, version: 4, value }]
  },
  model => {
    const broker = pick(model, [...model.brokers])
    if (broker === undefined) return []
    const [brokerId, brokerEpoch] = broker
    const fenced = upTo(model, 3) - 1
    const value = { brokerId, brokerEpoch, fenced, inControlledShutdown: 0, logDirs: [], cordonedLogDirs: null }
    return [{ type: T.BrokerRegistrationChange, version: 3, value }]
  },
  model => {
    const broker = pick(model, [...model.brokers])
    if (broker === undefined) return []
    model.brokers.delete(broker[0])
    return [{ type: T.UnregisterBroker, version: 0, value: { brokerId: broker[0], brokerEpoch: broker[1] } }]
  },
  model => [
    { type: T.FeatureLevel, version: 0, value: { name: `feature-${upTo(model, 3)}`, featureLevel: upTo(model, 3) } },
  ],
  model => [
    { type: T.ProducerIds, version: 0, value: { brokerId: 1, brokerEpoch: 1n, nextProducerId: BigInt(++model.made) } },
  ],
  model => {
    const id = newId(model)
    model.acls.push(id)
    const rule = { resourceType: 2, patternType: 3, principal: 'User:a', host: '*', operation: 3, permissionType: 3 }
    return [{ type: T.AccessControlEntry, version: 0, value: { id, resourceName: 't', ...rule } }]
  },
  model => {
    const id = model.acls.pop()
    return id === undefined ? [] : [{ type: T.RemoveAccessControlEntry, version: 0, value: { id } }]
  },
  model => {
    const entity = [{ entityType: 'user', entityName: pick(model, [null, 'a']) ?? null }]
    const value = { entity, key: 'producer_byte_rate', value: upTo(model, 9), remove: model.random() < 0.3 }
    return [{ type: T.ClientQuota, version: 0, value }]
  },
  model => {
    const secret = Buffer.from([upTo(model, 9)])
    const value = { name: 'u', mechanism: 1, salt: secret, storedKey: secret, serverKey: secret, iterations: 4096 }
    return [{ type: T.UserScramCredential, version: 0, value }]
  },
  model => {
    const endPoints = [{ name: 'CONTROLLER', host: 'localhost', port: 9093, securityProtocol: 0 }]
    const features = [{ name: 'kraft.version', minSupportedVersion: 0, maxSupportedVersion: 1 }]
    const value = { controllerId: upTo(model, 3), incarnationId: newId(model), zkMigrationReady: false }
    return [{ type: T.RegisterController, version: 0, value: { ...value, endPoints, features } }]
  },
  model => {
    const times = { issueTimestamp: BigInt(++model.made), maxTimestamp: 7n, expirationTimestamp: 8n }
    const value = { tokenId: `token-${upTo(model, 3)}`, owner: 'User:a', requester: 'User:b', renewers: ['User:c'] }
    return [{ type: T.DelegationToken, version: 0, value: { ...value, ...times } }]
  },
  model => [{ type: T.RemoveDelegationToken, version: 0, value: { tokenId: `token-${upTo(model, 3)}` } }],
  () => [{ type: T.RemoveUserScramCredential, version: 0, value: { name: 'u', mechanism: 1 } }],
  () => [{ type: T.NoOp, version: 0, value: {} }],
]

/** `steps` groups of records; the same seed gives the same records. */
export function randomRecords(seed: number, steps: number): MetadataRecord[] {
  const model: Model = {
    random: seededRandom(seed),
    topics: new Map(),
    brokers: new Map(),
    acls: [],
    made: 0,
  }
  const records: MetadataRecord[] = []
  for (let step = 0; step < steps; step++) records.push(...(pick(model, makers)?.(model) ?? []))
  return records
}
