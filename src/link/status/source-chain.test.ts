/** Chains of mirrors: which source topics would lead back here, and what is known behind the others. */
import { deepEqual, equal, match, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import { checkedChain, topicOrigins } from './chain-rules.ts'
import { chainOf, mirrorChain, type SourceStatusView, trueConfigs } from './source-chain.ts'
import { decodeStatusRecord, linkStatusRecord, mirrorStatusRecord } from './status-codec.ts'
import { StatusContents } from './status-contents.ts'
import { type ChainHop, hopsMax } from './status-records.ts'

const id = (letter: string) => letter.repeat(21).concat('A') as Uuid
const hop = (clusterId: string, topic = 'orders', topicId = id('x')): ChainHop => ({ clusterId, topic, topicId })
const link = { remoteClusterId: 'B' }
const planned = {
  link,
  sourceTopic: { name: 'orders', topicId: id('b') },
  mirrorTopic: 'orders',
  clusterId: 'A',
}

function published(chain: readonly ChainHop[], more: { state?: string; topicId?: Uuid; chainEnd?: string } = {}) {
  const contents = new StatusContents()
  const of = { linkId: id('l'), mirrorTopic: 'orders', linkName: 'west', stateEpoch: 1, stateTimeMs: 1, partitions: 1 }
  const configs = [{ name: 'retention.ms', value: '7', overridden: true }]
  const record = { ...of, topicId: id('b'), state: 'ACTIVE', chainEnd: 'origin', chain, configs, ...more }
  contents.apply(decodeStatusRecord(mirrorStatusRecord(record)))
  contents.apply(
    decodeStatusRecord(
      linkStatusRecord({
        linkId: id('l'),
        name: 'west',
        mode: 'DESTINATION',
        remoteClusterId: 'C',
        createdTimeMs: 1,
        groupFilters: undefined,
        isPaused: false,
        problem: undefined,
      }),
    ),
  )
  return { kind: 'read', contents } satisfies SourceStatusView
}

test('a source that mirrors this topic is refused, directly and through others', () => {
  throws(
    () => checkedChain(published([hop('A')]), planned),
    /mirror of itself: its source is a mirror of orders of cluster A/,
  )
  throws(() => checkedChain(published([hop('D'), hop('C'), hop('A')]), planned), /orders of cluster D, .* of cluster A/)
})

test('chains that end elsewhere are allowed, and so is another topic of this cluster', () => {
  const { chain, warnings } = checkedChain(published([hop('D'), hop('C')]), planned)
  deepEqual(
    chain.hops.map(({ clusterId }) => clusterId),
    ['B', 'D', 'C'],
  )
  deepEqual(warnings, [])
  deepEqual(checkedChain(published([hop('A', 'others')]), planned).warnings, [])
})

test('a mirror that has stopped, or a record of an earlier topic of the name, is no mirror', () => {
  equal(chainOf(published([hop('A')], { state: 'STOPPED' }), planned.sourceTopic).kind, 'origin')
  equal(chainOf(published([hop('A')], { topicId: id('c') }), planned.sourceTopic).kind, 'origin')
  equal(chainOf(published([hop('A')], { state: 'A_STATE_OF_ANOTHER_VERSION' }), planned.sourceTopic).kind, 'mirror')
})

test('what could not be checked is a warning that says why', () => {
  const warningOf = (view: SourceStatusView) => checkedChain(view, planned).warnings.join()
  match(warningOf({ kind: 'absent' }), /^Not checked for loops: the remote cluster publishes no __lockstep_status\.$/)
  match(warningOf({ kind: 'refused', message: 'no rights' }), /no rights/)
  match(warningOf({ kind: 'failed', error: new Error('timed out'), contents: undefined }), /timed out/)
  match(warningOf(published([hop('C')], { chainEnd: 'unchecked' })), /beyond cluster C/)
  match(warningOf(published([hop('C')], { chainEnd: 'word of another version' })), /beyond cluster C/)
})

test('a loop of others ends the chain, as does a chain without an end', () => {
  const place = { clusterId: 'A', topic: 'orders', topicId: id('a') }
  const loop = { hops: [hop('C'), hop('B'), hop('C')], end: 'loop', isLoop: false } as const
  deepEqual(mirrorChain(place, hop('B'), loop), { hops: [hop('B'), hop('C')], end: 'loop', isLoop: false })
  const long = Array.from({ length: 40 }, (_, index) => hop(`C${index}`))
  const followed = mirrorChain(place, hop('B'), { hops: long, end: 'origin', isLoop: false })
  deepEqual([followed.hops.length, followed.end], [hopsMax, 'too-long'])
})

test('an earlier topic of the same name here is no loop, one without an id is', () => {
  const place = { clusterId: 'A', topic: 'orders', topicId: id('a') }
  const behind = (topicId: Uuid) => ({ hops: [hop('A', 'orders', topicId)], end: 'origin', isLoop: false }) as const
  equal(mirrorChain(place, hop('B'), behind(id('z'))).isLoop, false)
  equal(mirrorChain(place, hop('B'), behind(id('a'))).isLoop, true)
  equal(mirrorChain(place, hop('B'), behind(ZERO_UUID)).isLoop, true)
})

test('clusters in a ring that tell each other again and again find the loop after as many rounds as they are', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: hopsMax }), count => {
      const names = Array.from({ length: count }, (_, index) => `C${index}`)
      const topics = names.map(name => hop(name, 'orders', id(name.at(-1) ?? 'x')))
      let known = names.map(() => ({ hops: [], end: 'unchecked', isLoop: false }) as ReturnType<typeof mirrorChain>)
      for (let round = 0; round < count; round++)
        known = topics.map((place, index) => {
          const next = (index + 1) % count
          const source = topics[next] ?? place
          return mirrorChain(place, source, known[next] ?? { hops: [], end: 'unchecked', isLoop: false })
        })
      equal(
        known.every(({ isLoop, hops }) => isLoop && hops.length === count),
        true,
      )
    }),
  )
})

test('the evaluation of topics is told what a source topic is a mirror of', () => {
  const origins = topicOrigins(published([hop('A')]), { link, clusterId: 'A' })
  const topic = { ...planned.sourceTopic, internal: false, partitions: [] }
  deepEqual(origins(topic, 'orders'), { kind: 'mirror', of: 'orders of cluster A', isLoop: true })
  deepEqual(origins(topic, 'prefixed-orders'), { kind: 'mirror', of: 'orders of cluster A', isLoop: false })
  deepEqual(origins({ ...topic, name: 'others' }, 'others'), { kind: 'ordinary' })
})

test('true configs are told of mirrors only, also from what was read before an outage', () => {
  const view = published([hop('C')])
  const wanted = new Map([['retention.ms', { value: '7', overridden: true }]])
  deepEqual(trueConfigs(view, planned.sourceTopic), wanted)
  deepEqual(trueConfigs({ kind: 'failed', error: new Error(), contents: view.contents }, planned.sourceTopic), wanted)
  equal(trueConfigs(view, { name: 'others', topicId: id('b') }), undefined)
  equal(trueConfigs({ kind: 'absent' }, planned.sourceTopic), undefined)
})
