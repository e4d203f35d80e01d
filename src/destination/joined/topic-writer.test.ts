// What writers of Lockstep's own topics are told when the leader refuses.
import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../protocol/errors.ts'
import type { BrokerLinks } from './group-coordinators.ts'
import type { OwnTopic } from './own-topic.ts'
import { TopicWriter } from './topic-writer.ts'

const records = [{ key: Buffer.from('k'), value: Buffer.from('v') }]

/** To a topic whose leader, broker 2, gives that answer. */
function writerTo(answer: { readonly errorCode: number; readonly errorMessage?: string | null }) {
  const asked: number[] = []
  const response = { responses: [{ partitionResponses: [{ errorMessage: null, ...answer }] }] }
  const connection = { versionFor: () => 9, send: async () => ({ response }) }
  const brokers = {
    to: async (broker: number) => {
      asked.push(broker)
      return connection
    },
  } as unknown as BrokerLinks
  const topic = { name: '__lockstep_status', leader: 2 } as OwnTopic
  return { writer: new TopicWriter({ topic, brokers, clock: { nowMs: () => 0 } }), asked }
}

test('its leader is asked', async () => {
  const { writer, asked } = writerTo({ errorCode: ErrorCode.NONE })
  await writer.append(records)
  deepEqual(asked, [2])
})

test('a right that is missing is named, with the command that grants it', async () => {
  const { writer } = writerTo({ errorCode: ErrorCode.TOPIC_AUTHORIZATION_FAILED })
  await rejects(
    writer.append(records),
    /cannot be written: .*lacks WRITE on the topic __lockstep_status; grant it with kafka-acls .*--operation Write --topic __lockstep_status/,
  )
})

test('another refusal is told as it is', async () => {
  const { writer } = writerTo({ errorCode: ErrorCode.NOT_ENOUGH_REPLICAS })
  await rejects(writer.append(records), /__lockstep_status cannot be written: NOT_ENOUGH_REPLICAS/)
})
