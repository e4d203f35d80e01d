/** Whom a node believes to be the link coordinator. */
import { match, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { CoordinatorTerms } from './coordinator-terms.ts'

test('the leader of the state topic in its newest leader epoch is believed, also one that the metadata do not know yet', () => {
  let state: { leader: number; leaderEpoch: number } | undefined
  const terms = new CoordinatorTerms(() => state)
  strictEqual(terms.refusal({ nodeId: 1001, term: 4 }), undefined)
  state = { leader: 1001, leaderEpoch: 4 }
  strictEqual(terms.refusal({ nodeId: 1001, term: 4 }), undefined)
  match(terms.refusal({ nodeId: 1002, term: 4 }) ?? '', /is node 1001's/)
  strictEqual(terms.refusal({ nodeId: 1002, term: 5 }), undefined)
  match(terms.refusal({ nodeId: 1001, term: 4 }) ?? '', /is over/)
  state = { leader: 1001, leaderEpoch: 7 }
  match(terms.refusal({ nodeId: 1002, term: 5 }) ?? '', /term 5 of node 1002 is over, this node knows of term 7/)
  strictEqual(terms.refusal({ nodeId: 1001, term: 7 }), undefined)
})

test('a claim that was refused ends nobody', () => {
  const terms = new CoordinatorTerms(() => ({ leader: 1001, leaderEpoch: 4 }))
  match(terms.refusal({ nodeId: 1002, term: 4 }) ?? '', /1001/)
  match(terms.refusal({ nodeId: 1002, term: 3 }) ?? '', /over/)
  strictEqual(terms.refusal({ nodeId: 1001, term: 4 }), undefined)
})
