/** What must hold of syncs and verbs once everything has healed and had time; asked by the checks. */
import { aclText } from '../../src/link/acls/acl-names.ts'
import { LinkConfigs } from '../../src/link/configs/link-configs.ts'
import { copiedTopicConfigs } from '../../src/link/configs/topic-rules.ts'
import type { DesiredState } from '../../src/link/replay/desired-state.ts'
import type { LinkRecord } from '../../src/link/state-records/link-record.ts'
import type { MirrorRecord } from '../../src/link/state-records/mirror-record.ts'
import { excludedTopic } from './link-names.ts'
import { excludedGroup } from './simulated-cluster.ts'
import { sourceDefaults } from './simulated-source.ts'
import type { World } from './world.ts'

/** The first thing that is wrong; undefined = nothing is. */
export function syncProblem(world: World, state: DesiredState): string | undefined {
  return [...problems(world, state)][0]
}

function* problems(world: World, state: DesiredState): Generator<string> {
  if (world.cluster.topicNamed(excludedTopic)) yield `${excludedTopic} was mirrored, which a filter excludes`
  for (const creation of state.creations()) yield `the creation of ${creation.mirrorTopic} has not ended`
  for (const link of state.links()) {
    if (link.deletingSinceMs !== undefined) yield `link ${link.name} is still being deleted`
    yield* aclProblems(world, state, link)
    yield* creationProblems(world, state, link)
  }
  for (const record of state.mirrors()) {
    if (record.state === 'PENDING_STOPPED') yield* promoteProblems(state, record)
    if (record.state === 'ACTIVE') {
      yield* configProblems(world, state, record)
      yield* groupProblems(world, record)
    }
  }
}

/** Owned ones and those of the source that the filters select are the same, and all of them are there. */
function* aclProblems(world: World, state: DesiredState, { name, linkId, remoteClusterId = '' }: LinkRecord) {
  const selected = world.modelOf(remoteClusterId).acls.filter(({ resourceType }) => resourceType === 2)
  const wanted = new Set(selected.map(aclText))
  for (const acl of selected)
    if (!world.cluster.hasAcl(acl))
      yield `the ACL of ${acl.principal} is missing, which link ${name} should have created`
  const owned = state.ownedAcls(linkId)
  for (const acl of owned) if (!wanted.has(aclText(acl))) yield `link ${name} still owns an ACL of ${acl.principal}`
  const isOwned = new Set(owned.map(aclText))
  for (const acl of selected)
    if (!isOwned.has(aclText(acl)) && !world.cluster.isForeignAcl(acl))
      yield `nobody would delete the ACL of ${acl.principal}, which link ${name} created`
}

/** What a filter includes is a mirror, or its name is another topic's. */
function* creationProblems(world: World, state: DesiredState, { name, linkId }: LinkRecord) {
  if (name !== 'east') return
  for (const topic of world.east.topics.keys()) {
    if (!topic.startsWith('auto-') || topic === excludedTopic) continue
    if (!world.cluster.topicNamed(topic) && !state.mirror(linkId, topic)) yield `${topic} was not mirrored by itself`
  }
}

/** A promote may only wait for another topic of its unit that cannot stop. */
function* promoteProblems(state: DesiredState, { linkId, mirrorTopic, together }: MirrorRecord) {
  const others = together.map(topic => state.mirror(linkId, topic)?.state)
  const isBlocked = others.some(other => other !== undefined && other !== 'STOPPED' && other !== 'PENDING_STOPPED')
  const waits = state
    .mirrorsOf(linkId)
    .some(other => other.state === 'PENDING_STOPPED' && other.mirrorTopic !== mirrorTopic)
  if (!isBlocked && !waits) yield `${mirrorTopic} is still being promoted`
}

/** Equal in effect, with no override that changes nothing. */
function* configProblems(world: World, state: DesiredState, record: MirrorRecord) {
  const { linkId, mirrorTopic, topicId, sourceTopicId, sourceTopic } = record
  const source = world.modelOf(record.sourceClusterId).topics.get(sourceTopic)
  const here = world.cluster.topics.get(topicId)
  const link = state.link(linkId)
  if (source?.topicId !== sourceTopicId || !here || !link) return
  const owned = copiedTopicConfigs(new LinkConfigs(link.configs))
  for (const [key, initial] of sourceDefaults) {
    if (!owned.has(key)) continue
    const there = source.configs.get(key) ?? initial
    const inherited = world.cluster.defaultConfigs.get(key)
    const found = here.configs.get(key) ?? inherited
    if (found !== there) yield `${key} of ${mirrorTopic} is ${found}, at the source ${there}`
    if (inherited === there && here.configs.has(key)) yield `${key} of ${mirrorTopic} is overridden for nothing`
  }
}

/** The source's offset, held within what the mirror has, unless it is a client's. */
function* groupProblems(
  world: World,
  { mirrorTopic, topicId, sourceTopic, sourceClusterId, startOffsets }: MirrorRecord,
) {
  const logs = world.cluster.topics.get(topicId)?.logs ?? []
  for (const [group, offsets] of world.modelOf(sourceClusterId).groups) {
    if (group === excludedGroup) continue
    for (const { topic, partition, offset } of offsets.values()) {
      const log = logs[partition]
      if (topic !== sourceTopic || !log || partition >= startOffsets.length) continue
      const place = `${mirrorTopic}/${partition}`
      const wanted = Math.max(log.logStartOffset, Math.min(offset, log.logEndOffset))
      const found = world.cluster.groups.get(group)?.offsets.get(place)?.offset
      if (found !== wanted && !world.cluster.mayBeForeign(group, place))
        yield `group ${group} has ${found} in ${place}, at the source ${offset}, which is ${wanted} here`
    }
  }
}
