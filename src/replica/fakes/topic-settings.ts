/** Kafka's default topic configs as settings, for tests of this folder and of broker/. */
import { topicSettings } from '../../metadata/topic-settings.ts'

export const defaultTopicSettings = topicSettings({
  topic: new Map(),
  broker: new Map(),
  defaultBroker: new Map(),
  file: new Map(),
})
