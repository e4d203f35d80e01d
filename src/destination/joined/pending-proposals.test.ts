/** Proposals of a node: repeated until the state shows what came of them, and given up in the end. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { NotLinkCoordinator, type StateRecord } from '../../link/ports.ts'
import { PendingProposals } from './pending-proposals.ts'
import { decodeProposal, encodeProposal, type ProposalSignatures } from './proposal-codec.ts'

const record = (key: string, value: string | null = 'v'): StateRecord => ({
  key: Buffer.from(key),
  value: value === null ? null : Buffer.from(value),
})

/** Signs with one byte, 32 times. */
const signedWith = (byte: number): ProposalSignatures => ({
  sign: () => Buffer.alloc(32, byte),
  isGenuine: (_bytes, signature) => signature.equals(Buffer.alloc(32, byte)),
})

function scene() {
  const clock = new ManualClock()
  const sent: StateRecord[] = []
  const state = { vacancy: undefined as string | undefined, failure: undefined as Error | undefined }
  const pending = new PendingProposals({
    sender: 1002,
    signatures: signedWith(7),
    inbox: {
      async append(records) {
        if (state.failure) throw state.failure
        sent.push(...records)
      },
    },
    vacancy: () => state.vacancy,
    clock,
  })
  return { pending, clock, sent, state }
}

test('a proposal is done when all its records were replayed, whoever wrote them', async () => {
  const { pending, sent, clock } = scene()
  const done = pending.propose([record('a'), record('b', null)], 10)
  await clock.advance(0)
  const [{ key, value } = record('')] = sent
  strictEqual(key.toString(), '1002')
  const { sender, decidedAt, records } = decodeProposal(value, signedWith(7)) as Exclude<
    ReturnType<typeof decodeProposal>,
    'forged' | undefined
  >
  deepStrictEqual([sender, decidedAt, records.length], [1002, 10, 2])
  pending.replayed([record('a')], 11)
  pending.replayed([record('else')], 12)
  pending.replayed([record('b', null)], 13)
  await done
})

test('it is sent again where nothing comes of it, and given up after a while with what was wrong', async () => {
  const { pending, sent, clock, state } = scene()
  const given = rejects(pending.propose([record('a')], 0), /does not answer/)
  for (let second = 0; second < 21; second++) await clock.advance(1000)
  await given
  strictEqual(sent.length, 7)
  state.failure = new Error('the inbox has no leader now')
  const failed = rejects(pending.propose([record('a')], 0), /no leader now/)
  for (let second = 0; second < 21; second++) await clock.advance(1000)
  await failed
})

test('another record of one of its keys comes first: it has to be decided again', async () => {
  const { pending, clock } = scene()
  const refused = rejects(pending.propose([record('a')], 10), NotLinkCoordinator)
  await clock.advance(0)
  // Known when it was decided.
  pending.replayed([record('a', 'old')], 9)
  pending.replayed([record('a', 'other')], 10)
  await refused
})

test('there is nobody to propose to, or this node itself is the coordinator by now', async () => {
  const { pending, clock, state } = scene()
  state.vacancy = 'the state topic has no leader now'
  await rejects(pending.propose([record('a')], 0), /no leader now/)
  state.vacancy = undefined
  const ended = rejects(pending.propose([record('a')], 0), /has become/)
  await clock.advance(0)
  pending.giveUp('this node has become the link coordinator')
  await ended
})

test('a proposal that was changed, or signed with another key, is forged; one of another version is none', () => {
  const proposal = { sender: 1001, decidedAt: 5, records: [record('k')] }
  const bytes = encodeProposal(proposal, signedWith(1))
  deepStrictEqual(decodeProposal(bytes, signedWith(1)), proposal)
  strictEqual(decodeProposal(bytes, signedWith(2)), 'forged')
  const unsigned = Buffer.from(bytes)
  unsigned.writeInt16BE(0)
  strictEqual(decodeProposal(unsigned, signedWith(1)), undefined)
  strictEqual(decodeProposal(null, signedWith(1)), undefined)
  strictEqual(decodeProposal(Buffer.alloc(10), signedWith(1)), undefined)
  const cut = bytes.subarray(0, bytes.length - 3)
  strictEqual(decodeProposal(cut, signedWith(1)), undefined)
})
