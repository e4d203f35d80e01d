/** The other half of a bidirectional link, as it is read from what the remote cluster publishes. */
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { randomUuid } from '../../core/uuid.ts'
import type { SourceStatusView } from '../status/source-chain.ts'
import { decodeStatusRecord, linkStatusRecord } from '../status/status-codec.ts'
import { StatusContents } from '../status/status-contents.ts'
import type { LinkStatus } from '../status/status-records.ts'
import { peerLinkOf, takesOtherId } from './peer-link.ts'

const linkId = randomUuid()
const half: LinkStatus = {
  linkId,
  name: 'twin',
  mode: 'BIDIRECTIONAL',
  remoteClusterId: 'here',
  createdTimeMs: 1,
  groupFilters: undefined,
  isPaused: false,
  problem: undefined,
}

function published(...links: readonly LinkStatus[]): SourceStatusView {
  const contents = new StatusContents()
  for (const link of links) contents.apply(decodeStatusRecord(linkStatusRecord(link)))
  return { kind: 'read', contents }
}

const peer = (view: SourceStatusView) => peerLinkOf(view, { name: 'twin', linkId, clusterId: 'here' })

test('a link of the same name and id that leads here is the other half', () => {
  const found = peer(published({ ...half, name: 'other', linkId: randomUuid() }, half))
  equal(found.kind === 'linked' && found.link.linkId, linkId)
  const unpinned = peer(published({ ...half, remoteClusterId: undefined }))
  equal(unpinned.kind, 'linked')
})

test('what is wrong with the other half is said in a word for programs and one for people', () => {
  const cases: readonly (readonly [SourceStatusView, string, RegExp])[] = [
    [{ kind: 'absent' }, 'MISCONFIGURATION_ERROR', /both sides of a bidirectional link need Lockstep/],
    [{ kind: 'refused', message: 'may not read' }, 'AUTHORIZATION_ERROR', /may not read/],
    [{ kind: 'failed', error: new Error('cut'), contents: undefined }, 'INTERNAL_ERROR', /cannot be read: cut/],
    [published(), 'REMOTE_LINK_NOT_FOUND_ERROR', /no link named 'twin'$/],
    [published({ ...half, name: 'two' }), 'REMOTE_LINK_NOT_FOUND_ERROR', /the link of this id is named 'two' there/],
    [published({ ...half, mode: 'DESTINATION' }), 'MISCONFIGURATION_ERROR', /link.mode DESTINATION/],
    [published({ ...half, remoteClusterId: 'else' }), 'MISCONFIGURATION_ERROR', /belongs to cluster else/],
    [published({ ...half, linkId: randomUuid() }), 'MISCONFIGURATION_ERROR', /delete one of both/],
  ]
  for (const [view, code, message] of cases) {
    const found = peer(view)
    deepEqual([found.kind, found.kind === 'problem' && found.code], ['problem', code])
    match(found.kind === 'problem' ? found.message : '', message)
  }
})

test('of two halves with two ids exactly one takes the other, unless both have mirrors', () => {
  const [smaller = linkId, larger = linkId] = [linkId, randomUuid()].sort()
  for (const [left, right] of [
    [false, false],
    [false, true],
    [true, false],
    [true, true],
  ] as const) {
    const halves = [
      { linkId: smaller, hasMirrors: left },
      { linkId: larger, hasMirrors: right },
    ] as const
    const takes = [takesOtherId(halves[0], halves[1]), takesOtherId(halves[1], halves[0])]
    equal(takes.filter(Boolean).length, left && right ? 0 : 1)
    if (!left && !right) deepEqual(takes, [false, true])
  }
})
