// Clients that read a topic as members of a group and commit what they have read; used by the suite of groups.
import { Consumer, MessagesStreamFallbackModes, MessagesStreamModes, stringDeserializers } from '@platformatic/kafka'
import type { ClientSecurity } from './client-record.ts'
import { kafkaJsOptions, platformaticOptions } from './client-security.ts'
import { readGroupInPython } from './confluent.ts'
import { patientKafkaJs } from './kafkajs.ts'
import { readGroupWithKcat } from './kcat.ts'
import { patientPlatformatic } from './platformatic.ts'

export interface GroupReading {
  readonly bootstrap: string
  readonly topic: string
  readonly group: string
  /** How many records are read before what was read is committed and the group is left. */
  readonly count: number
  /** A commit for so many records, and one at the end; default 1. Not every reader minds. */
  readonly commitEvery?: number
  readonly security?: ClientSecurity
}

export interface GroupReader {
  readonly name: string
  /** Resolves to `partition:offset` of each record, when its commits are acknowledged and it has left. */
  readonly read: (reading: GroupReading) => Promise<string[]>
}

export const kcatGroupReader: GroupReader = { name: 'kcat', read: readGroupWithKcat }

export const confluentGroupReader: GroupReader = { name: 'confluent-kafka', read: readGroupInPython }

export const kafkaJsGroupReader: GroupReader = {
  name: 'KafkaJS',
  async read({ bootstrap, topic, group, count, commitEvery = 1, security }) {
    const kafka = patientKafkaJs(bootstrap, kafkaJsOptions(security))
    const consumer = kafka.consumer({ groupId: group, maxWaitTimeInMs: 100 })
    const seen: string[] = []
    await consumer.connect()
    try {
      await consumer.subscribe({ topic, fromBeginning: true })
      await new Promise<void>((resolve, reject) => {
        consumer.on(consumer.events.CRASH, ({ payload }) => {
          // While a coordinator loads, for example, it starts again by itself.
          if (!payload.restart) reject(payload.error)
        })
        const eachMessage = async ({ partition, message }: { partition: number; message: { offset: string } }) => {
          seen.push(`${partition}:${message.offset}`)
          if (seen.length >= count) resolve()
        }
        consumer.run({ autoCommitThreshold: commitEvery, eachMessage }).catch(reject)
      })
      await consumer.stop()
    } finally {
      await consumer.disconnect()
    }
    return seen
  },
}

export const platformaticGroupReader: GroupReader = {
  name: '@platformatic/kafka',
  async read({ bootstrap, topic, group, count, security }) {
    const consumer = new Consumer({
      ...patientPlatformatic(bootstrap),
      ...platformaticOptions(security),
      groupId: group,
      deserializers: stringDeserializers,
      autocommit: false,
      maxWaitTime: 100,
    })
    const seen: string[] = []
    try {
      const stream = await consumer.consume({
        topics: [topic],
        mode: MessagesStreamModes.COMMITTED,
        fallbackMode: MessagesStreamFallbackModes.EARLIEST,
      })
      for await (const message of stream) {
        seen.push(`${message.partition}:${message.offset}`)
        await message.commit()
        if (seen.length >= count) break
      }
      await stream.close()
    } finally {
      await consumer.close(true)
    }
    return seen
  },
}
