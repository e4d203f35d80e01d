/** Which topics of coordinators are asked for before a node joins, and how long it waits for them. */
import { deepStrictEqual, match } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import type { NewTopic } from '../../metadata/controller-port.ts'
import { javaBroker, joinedImage } from '../../metadata/fakes/joined-images.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { RecordingLogger } from '../../network/fakes/recording-logger.ts'
import { missingInternalTopics, prepareInternalTopics } from './internal-topics.ts'

const withFeatures = (features: Record<string, number>, topics: Record<string, number[][]> = {}): MetadataImage => ({
  ...joinedImage({ brokers: [javaBroker(1)], topics }),
  features: new Map(Object.entries(features)),
})

test('what is missing depends on the version and its features; from 4.3 on nothing has to be there', () => {
  const offsets = { __consumer_offsets: [[1]] }
  deepStrictEqual(missingInternalTopics(withFeatures({ 'metadata.version': 21 }, offsets)), ['__transaction_state'])
  deepStrictEqual(missingInternalTopics(withFeatures({ 'metadata.version': 29, 'share.version': 1 }, offsets)), [
    '__transaction_state',
    '__share_group_state',
  ])
  deepStrictEqual(missingInternalTopics(withFeatures({ 'metadata.version': 30 })), [])
})

async function prepared(appear: boolean) {
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const asked: string[] = []
  const controller = {
    image: withFeatures({ 'metadata.version': 21 }, { __consumer_offsets: [[1]] }),
    createTopics: async (topics: readonly NewTopic[]) => {
      asked.push(...topics.map(({ name }) => name))
      if (appear && asked.length === 2)
        controller.image = withFeatures(
          { 'metadata.version': 21 },
          { __consumer_offsets: [[1]], __transaction_state: [[1]] },
        )
      return []
    },
  }
  let done = false
  const preparing = prepareInternalTopics({ controller, clock, logger }).then(() => {
    done = true
  })
  while (!done) await clock.advance(500)
  await preparing
  return { asked, logger, waitedMs: clock.monotonicMs() }
}

test('they are asked for until they are there', async () => {
  const { asked, logger } = await prepared(true)
  deepStrictEqual([asked, logger.lines], [['__transaction_state', '__transaction_state'], []])
})

test('a cluster that does not create them is joined all the same', async () => {
  const { logger } = await prepared(false)
  match(JSON.stringify(logger.lines), /internal topics are missing/)
})
