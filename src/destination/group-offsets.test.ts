/** What a link commits for groups of this cluster, and what it does about refusals. */
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ConsumerClient } from '../coordinator/fakes/consumer-client.ts'
import { GroupBench } from '../coordinator/fakes/group-bench.ts'
import { emptyImage } from '../metadata/metadata-image.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { commitToGroup, type LinkedGroups, readGroup } from './group-offsets.ts'

const offset = (partition: number, metadata: string) => ({ topic: 'orders', partition, offset: 5, metadata })

function groupsThat(refuse: (metadata: string | null) => number) {
  const commits: (string | null)[][] = []
  const groups = {
    commitOffsets: async ({ offsets }) => {
      commits.push(offsets.map(({ metadata }) => metadata))
      return offsets.map(({ metadata }) => refuse(metadata))
    },
  } satisfies Pick<LinkedGroups, 'commitOffsets'>
  return { commits, groups: groups as unknown as LinkedGroups }
}

// Such a group was told as failed in every round, and no mirror of its topics could be promoted.
test('metadata that is too long here does not keep an offset back', async () => {
  const isLong = (metadata: string | null) => (metadata?.length ?? 0) > 3
  const { commits, groups } = groupsThat(metadata => (isLong(metadata) ? ErrorCode.OFFSET_METADATA_TOO_LARGE : 0))
  const outcome = await commitToGroup(
    groups,
    { groupId: 'g', offsets: [offset(0, 'a'), offset(1, 'long')] },
    emptyImage('c'),
  )
  deepEqual(outcome, { kind: 'committed' })
  deepEqual(commits, [['a', 'long'], ['']])
})

test('refusals of all offsets are told by their kind', async () => {
  const kindOf = async (code: number) => {
    const { groups } = groupsThat(() => code)
    return (await commitToGroup(groups, { groupId: 'g', offsets: [offset(0, '')] }, emptyImage('c'))).kind
  }
  deepEqual(
    [
      await kindOf(ErrorCode.UNKNOWN_MEMBER_ID),
      await kindOf(ErrorCode.GROUP_ID_NOT_FOUND),
      await kindOf(ErrorCode.NOT_COORDINATOR),
      await kindOf(ErrorCode.OFFSET_METADATA_TOO_LARGE),
    ],
    ['in-use', 'other-type', 'failed', 'failed'],
  )
})

test('a consumer group of the newer protocol is in use while it has members, and takes offsets when it is empty', async () => {
  const bench = await GroupBench.start()
  const { groups, controller } = bench.node
  const client = new ConsumerClient(bench)
  await client.beat()
  await client.commit(3)
  const commit = { groupId: 'g', offsets: [{ topic: 't', partition: 0, offset: 5, metadata: '' }] }
  const offsets = [{ topic: 't', partition: 0, offset: 3, metadata: '' }]
  deepEqual(await readGroup(groups, 'g', controller.image), { kind: 'offsets', offsets, hasMembers: true })
  deepEqual((await commitToGroup(groups, commit, controller.image)).kind, 'in-use')
  await client.leave()
  const committing = commitToGroup(groups, commit, controller.image)
  await bench.settle()
  deepEqual((await committing).kind, 'committed')
  const after = await readGroup(groups, 'g', controller.image)
  deepEqual(after, { kind: 'offsets', offsets: [{ ...offsets[0], offset: 5 }], hasMembers: false })
  await bench.close()
})
