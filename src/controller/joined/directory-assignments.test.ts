/** The controller is told of replicas that it believes in another directory, once per change and not before there is a registration. */
import { deepStrictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { randomUuid } from '../../core/uuid.ts'
import { type MetadataDelta, wholeImageDelta } from '../../metadata/metadata-delta.ts'
import { DirectoryId, emptyImage, type PartitionImage } from '../../metadata/metadata-image.ts'
import type { AssignReplicasToDirsRequestInput } from '../../protocol/messages/73-assign-replicas-to-dirs.ts'
import { DirectoryAssignments } from './directory-assignments.ts'

const partition = (directories: PartitionImage['directories']): PartitionImage => ({
  replicas: [1001, 1],
  isr: [1001, 1],
  removingReplicas: [],
  addingReplicas: [],
  eligibleLeaderReplicas: [],
  lastKnownElr: [],
  leader: 1,
  leaderEpoch: 0,
  leaderRecoveryState: 0,
  partitionEpoch: 0,
  directories,
})

test('replicas that are noted in another directory, or in none, are assigned to ours', async () => {
  const clock = new ManualClock()
  const ours = randomUuid()
  const java = randomUuid()
  const requests: AssignReplicasToDirsRequestInput[] = []
  let brokerEpoch = -1
  const ask = async (_api: unknown, request: unknown) => {
    requests.push(request as AssignReplicasToDirsRequestInput)
    return { response: { throttleTimeMs: 0, errorCode: 0, directories: [] }, epoch: 1 } as never
  }
  const assignments = new DirectoryAssignments({
    brokerId: 1001,
    directoryId: ours,
    brokerEpoch: () => brokerEpoch,
    questions: { ask },
    clock,
    logger: silentLogger,
  })
  const id = randomUuid()
  const image = emptyImage('c')
  const changed = (partitions: PartitionImage[]): MetadataDelta => ({
    ...wholeImageDelta(image),
    changedTopics: new Map([
      [id, { before: undefined, after: { id, name: 'orders', partitions }, partitions: [...partitions.keys()] }],
    ]),
  })
  assignments.onImage(
    image,
    changed([partition([randomUuid(), java]), partition([ours, java]), partition([DirectoryId.UNASSIGNED, java])]),
  )
  assignments.start()
  await clock.advance(2000)
  deepStrictEqual(requests, [])
  brokerEpoch = 7
  await clock.advance(1000)
  deepStrictEqual(requests, [
    {
      brokerId: 1001,
      brokerEpoch: 7n,
      directories: [
        { id: ours, topics: [{ topicId: id, partitions: [{ partitionIndex: 0 }, { partitionIndex: 2 }] }] },
      ],
    },
  ])
  assignments.onImage(image, changed([partition([ours, java])]))
  await clock.advance(5000)
  deepStrictEqual(requests.length, 1)
  await assignments.close()
})
