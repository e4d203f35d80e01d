/** Tests of Kafka's rules for topic names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canCollide, collisionKey, isInternalTopic, topicNameProblem } from './topic-names.ts'

test('names that Kafka refuses are refused', () => {
  for (const name of ['', '.', '..', 'x'.repeat(250), 'bad name', 'ä', 'a/b']) assert.ok(topicNameProblem(name), name)
  for (const name of ['a', 'x'.repeat(249), 'A.b_c-9', '...', '__consumer_offsets'])
    assert.equal(topicNameProblem(name), undefined, name)
})

test('names that differ only in . and _ collide', () => {
  assert.equal(collisionKey('a.b_c'), collisionKey('a_b.c'))
  assert.notEqual(collisionKey('a.b'), collisionKey('a-b'))
  assert.deepEqual([canCollide('a-b'), canCollide('a.b'), canCollide('a_b')], [false, true, true])
})

test('the three coordinator topics are internal', () => {
  assert.equal(isInternalTopic('__share_group_state'), true)
  assert.equal(isInternalTopic('__lockstep_state'), false)
})
