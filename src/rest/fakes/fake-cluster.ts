/** A plain cluster that remembers what was done to it, behind REST's ports; part of the context of tests of routes. */
import { ZERO_UUID } from '../../core/uuid.ts'
import type {
  AclAdmin,
  AclView,
  ClusterAdmin,
  ConfigView,
  GroupAdmin,
  GroupLagView,
  GroupView,
  NodeList,
  TopicView,
} from '../cluster-ports.ts'

const defaultRetention: ConfigView = {
  name: 'retention.ms',
  value: '604800000',
  source: 'DEFAULT_CONFIG',
  isDefault: true,
  isReadOnly: false,
  isSensitive: false,
  synonyms: [{ name: 'log.retention.ms', value: '604800000', source: 'DEFAULT_CONFIG' }],
}

/** One broker, one config; topics as they are created. */
export function fakeCluster(clusterId: string): ClusterAdmin {
  const topics = new Map<string, TopicView>()
  const overrides = new Map<string, string>()
  const configOf = (topic: string): ConfigView => {
    const value = overrides.get(topic)
    if (value === undefined) return defaultRetention
    const own = { name: 'retention.ms', value, source: 'DYNAMIC_TOPIC_CONFIG' }
    return { ...defaultRetention, ...own, isDefault: false, synonyms: [own, ...defaultRetention.synonyms] }
  }
  const setPartitions = (topic: TopicView, count: number) =>
    topics.set(topic.name, {
      ...topic,
      partitions: Array.from({ length: count }, (_, partition) => ({ partition, leader: 1, replicas: [1], isr: [1] })),
    })
  return {
    clusterId,
    controllerId: 1,
    brokers: () => [{ id: 1, host: '127.0.0.1', port: 9092, rack: null }],
    brokerConfigs: () => [{ ...defaultRetention, name: 'log.retention.ms' }],
    clusterConfigs: () => [],
    topics: () => [...topics.values()],
    topic: name => topics.get(name),
    topicConfigs: topic => [configOf(topic)],
    defaultTopicConfigs: () => [defaultRetention],
    async createTopic({ name, partitions = 1, replicationFactor = 1 }, { validateOnly }) {
      const topic = { name, topicId: ZERO_UUID, internal: false, replicationFactor, partitions: [] }
      if (!validateOnly) setPartitions(topic, partitions)
      return { topicId: ZERO_UUID, replicationFactor, partitionsCount: partitions }
    },
    async alterTopicConfigs(topic, changes, { validateOnly }) {
      if (validateOnly) return
      for (const { value } of changes)
        if (value === null) overrides.delete(topic)
        else overrides.set(topic, value)
    },
    async createPartitions(name, count) {
      const topic = topics.get(name)
      if (topic) setPartitions(topic, count)
    },
    async deleteTopic(name) {
      topics.delete(name)
    },
  }
}

/** Groups, and what each is behind. */
export function fakeGroups(
  groups: readonly GroupView[] = [],
  lags: (group: GroupView) => readonly GroupLagView[] = () => [],
): GroupAdmin {
  return {
    list: () => groups,
    describe: groupId => groups.find(group => group.groupId === groupId),
    lags: async group => lags(group),
    coordinatorId: () => 1,
  }
}

/** Filters match what they say word by word. */
export function fakeAcls(): AclAdmin {
  let acls: AclView[] = []
  const isMatch = (acl: AclView, filter: Readonly<Record<string, string | undefined>>) =>
    Object.entries(acl).every(([field, value]) => [undefined, 'ANY', value].includes(filter[field]))
  return {
    list: filter => acls.filter(acl => isMatch(acl, filter)),
    async create(created) {
      acls = [...acls, ...created]
    },
    async delete(filter) {
      const gone = acls.filter(acl => isMatch(acl, filter))
      acls = acls.filter(acl => !gone.includes(acl))
      return gone
    },
  }
}

/** A standalone node, and one that has joined and gone; a real cluster has only one kind. */
export const fakeNodes = (): NodeList => ({
  unregister: async () => {},
  nodes: () => [
    {
      nodeId: 1,
      mode: 'STANDALONE',
      version: '0.0.0-test',
      restUrl: 'http://127.0.0.1:8090',
      partitionsLed: 3,
      mirrorPartitionsLed: 2,
      cordoned: false,
      health: 'HEALTHY',
      healthMessage: null,
      linkCoordinator: true,
    },
    {
      nodeId: 1001,
      mode: 'JOINED',
      version: null,
      restUrl: 'http://127.0.0.1:8091',
      partitionsLed: 0,
      mirrorPartitionsLed: 0,
      cordoned: true,
      health: 'FENCED',
      healthMessage: 'nothing was heard of it',
      linkCoordinator: false,
    },
  ],
})
