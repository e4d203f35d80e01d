/** What syncs follow, and what gets in their way: groups, ACLs and configs at the sources and here. Chosen at random. */
import { aclText } from '../../src/link/acls/acl-names.ts'
import type { AclBinding } from '../../src/link/ports.ts'
import type { Action } from './action.ts'
import { linkOf, sourceTopicNames } from './link-names.ts'
import { excludedGroup } from './simulated-cluster.ts'
import type { World } from './world.ts'

const groups = ['g-1', 'g-2', excludedGroup] as const

/** A group, and an offset in some partition of a topic that it could have committed. */
function someOffset(world: World) {
  const topic = world.pick(sourceTopicNames) ?? 'orders'
  const logs = world.modelOfTopic(topic).topics.get(topic)?.partitions
  const partition = world.below(logs?.length ?? 1)
  const { logStartOffset = 0, highWatermark = 0 } = logs?.[partition] ?? {}
  const offset = logStartOffset + world.below(highWatermark - logStartOffset + 1)
  return { group: world.pick(groups) ?? 'g-1', offset: { topic, partition, offset, metadata: '' } }
}

const acls: readonly AclBinding[] = [1, 2, 3].flatMap(principal =>
  // TOPIC, which the filters include, and GROUP, which they do not.
  [2, 3].map(resourceType => ({
    resourceType,
    resourceName: 'orders',
    patternType: 3,
    principal: `User:${principal}`,
    host: '*',
    operation: 3,
    permissionType: 3,
  })),
)

const configs = [
  ['retention.ms', ['1000', '604800000', '999999']],
  ['cleanup.policy', ['compact', 'delete']],
  ['max.message.bytes', ['2000000', '1048588', '500000']],
] as const

const toggled = (present: readonly AclBinding[], acl: AclBinding): AclBinding[] =>
  present.includes(acl) ? present.filter(other => other !== acl) : [...present, acl]

const sourceActions: readonly Action[] = [
  {
    name: 'commit at the source',
    weight: 12,
    act: world => {
      const { group, offset } = someOffset(world)
      const model = world.modelOfTopic(offset.topic)
      const offsets = model.groups.get(group) ?? new Map()
      model.groups.set(group, offsets.set(`${offset.topic}/${offset.partition}`, offset))
      world.note(`${group} commits ${offset.offset} in ${offset.topic}-${offset.partition} at the source`)
    },
  },
  {
    name: 'ACL at the source',
    weight: 6,
    act: world => {
      const model = world.pick(world.sources) ?? world.source
      const acl = world.pick(acls)
      if (!acl) return
      model.acls = toggled(model.acls, acl)
      world.note(`ACL of ${acl.principal} (${acl.resourceType}) at ${model.clusterId}: ${model.acls.includes(acl)}`)
    },
  },
  {
    name: 'config at the source',
    weight: 4,
    act: world => {
      const topic = world.pick(world.sources.flatMap(({ topics }) => [...topics.values()]))
      const [key, values] = world.pick(configs) ?? configs[0]
      if (!topic) return
      if (world.random() < 0.3) topic.configs.delete(key)
      else topic.configs.set(key, world.pick(values) ?? values[0])
      world.note(`${topic.name} at the source: ${key}=${topic.configs.get(key)}`)
    },
  },
]

const localActions: readonly Action[] = [
  {
    name: 'commit here',
    weight: 4,
    act: world => {
      const { group, offset } = someOffset(world)
      const topic = world.cluster.topicNamed(offset.topic)
      if (!topic || offset.partition >= topic.partitions) return
      world.cluster.commitAsClient(group, offset)
      world.note(`${group} commits ${offset.offset} in ${offset.topic}-${offset.partition} here`)
    },
  },
  {
    name: 'members come and go',
    weight: 4,
    act: world => {
      const name = world.pick(groups) ?? 'g-1'
      const group = world.cluster.groups.get(name) ?? { offsets: new Map(), hasMembers: false }
      world.cluster.groups.set(name, group)
      group.hasMembers = !group.hasMembers
      world.note(`${name} has members here: ${group.hasMembers}`)
    },
  },
  {
    name: 'adopt',
    weight: 2,
    act: world => {
      const group = world.pick(groups) ?? 'g-1'
      const link = linkOf(world.pick(sourceTopicNames) ?? 'orders')
      const { process } = world
      const answered = world.cluster.adopt(group, topic => linkOf(topic) === link)
      world.note(`adoption of ${group} asked for`)
      void world.engine.adoptGroup(link, group).then(
        count => {
          world.note(`${count} offsets of ${group} adopted`)
          if (process === world.process) answered(true)
        },
        error => {
          world.note(`${group} not adopted: ${error}`)
          if (process === world.process) answered(false)
        },
      )
    },
  },
  {
    name: 'ACL here',
    weight: 3,
    act: world => {
      const acl = world.pick(acls)
      if (!acl) return
      const isThere = world.cluster.hasAcl(acl)
      world.cluster.changeAclsAsOperator(present =>
        isThere ? present.filter(other => aclText(other) !== aclText(acl)) : [...present, acl],
      )
      world.note(`ACL of ${acl.principal} (${acl.resourceType}) here: ${!isThere}`)
    },
  },
  {
    name: 'config here',
    weight: 2,
    act: world => {
      const topic = world.cluster.topicNamed(world.pick(sourceTopicNames) ?? 'orders')
      const [key, values] = world.pick(configs) ?? configs[0]
      if (!topic) return
      const overrides = new Map(topic.configs)
      if (world.random() < 0.3) overrides.delete(key)
      else overrides.set(key, world.pick(values) ?? values[0])
      topic.configs = overrides
      world.note(`${topic.name} here: ${key}=${overrides.get(key)}`)
    },
  },
  {
    name: 'run a task',
    weight: 2,
    act: world => {
      const task = world.pick(['ConsumerOffsetSync', 'AclSync', 'TopicConfigsSync', 'PartitionSync'] as const)
      try {
        world.engine.runTask(world.random() < 0.5 ? 'west' : 'east', task ?? 'AclSync')
      } catch {
        // Not taken over yet, or no such link.
      }
    },
  },
]

export const syncActions: readonly Action[] = [...sourceActions, ...localActions]
