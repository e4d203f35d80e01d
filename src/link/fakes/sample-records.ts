/** Records of `__lockstep_state` with something in every field, for tests. */
import type { Uuid } from '../../core/uuid.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import type { MirrorCreationRecord } from '../state-records/mirror-creation-record.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'

export const sampleLinkId = 'AAAAAAAAAAAAAAAAAAAABA' as Uuid
const sampleTopicId = 'AAAAAAAAAAAAAAAAAAAABQ' as Uuid
const sampleSourceTopicId = 'AAAAAAAAAAAAAAAAAAAABg' as Uuid

export const sampleLink = (change: Partial<LinkRecord> = {}): LinkRecord => ({
  linkId: sampleLinkId,
  name: 'west',
  mode: 'DESTINATION',
  remoteClusterId: 'source-cluster',
  createdTimeMs: 1,
  deletingSinceMs: undefined,
  configs: new Map([['bootstrap.servers', 'source:9092']]),
  ...change,
})

export const sampleMirror = (change: Partial<MirrorRecord> = {}): MirrorRecord => ({
  linkId: sampleLinkId,
  mirrorTopic: 'orders',
  topicId: sampleTopicId,
  sourceTopic: 'orders',
  sourceTopicId: sampleSourceTopicId,
  sourceClusterId: 'source-cluster',
  createdTimeMs: 1,
  state: 'ACTIVE',
  stateEpoch: 2,
  stateTimeMs: 3,
  reason: 'why',
  held: false,
  failedFrom: undefined,
  failures: [{ partition: 1, error: 'CORRUPT_BATCH', reason: 'bad', timeMs: 4 }],
  troubles: [{ kind: 'topic-missing', sinceMs: 5 }],
  stopping: undefined,
  restore: {
    ...{ paused: true, exportsTail: true, sinceMs: 7 },
    cuts: [
      { partition: 0, offset: 10, endOffset: 12, messages: 2, sourceEpoch: undefined },
      { partition: 1, offset: 2 ** 52, endOffset: 2 ** 52 + 9, messages: 8, sourceEpoch: 3 },
    ],
    plan: 'the plan of before',
    givenUp: 'nobody wants it',
  },
  reversal: {
    ...{ paused: true, sinceMs: 8, request: 3, together: ['payments'], closed: true, sealedOffsets: [7, 2 ** 52] },
    ...{ abortedTransactions: 2, withdrawn: true, windowMs: 900 },
    ...{ writers: 'leaving', hurried: true, plan: 'where it was', givenUp: 'the mirror is gone' },
  },
  together: ['payments'],
  startOffsets: [0, 1_000_000_007],
  stopPoints: [
    {
      partition: 0,
      stopOffset: 10,
      lastSourceEpoch: undefined,
      timeMs: 6,
      lastSourceFetchOffset: -1,
      lag: undefined,
      openTransactions: 0,
      overlappingProducerIds: [],
      ofSource: true,
    },
    {
      partition: 1,
      stopOffset: 2 ** 52,
      lastSourceEpoch: 3,
      timeMs: 6,
      lastSourceFetchOffset: 9,
      lag: 8,
      openTransactions: 2,
      overlappingProducerIds: [3n, 2n ** 60n],
      ofSource: false,
    },
  ],
  trueConfigs: new Map([['max.message.bytes', '2000']]),
  history: [{ state: 'ACTIVE', event: 'create', reason: 'new', timeMs: 1 }],
  ...change,
})

export const sampleCreation = (change: Partial<MirrorCreationRecord> = {}): MirrorCreationRecord => ({
  linkId: sampleLinkId,
  mirrorTopic: 'payments',
  sourceTopic: 'payments',
  sourceTopicId: sampleSourceTopicId,
  sourceClusterId: 'source-cluster',
  sinceMs: 7,
  replicationFactor: -1,
  configs: new Map([['cleanup.policy', 'compact']]),
  startOffsets: [0, 5],
  ...change,
})
