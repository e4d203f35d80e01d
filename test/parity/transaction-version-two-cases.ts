// Transactions of version 2 (KIP-890) as both nodes must carry them out, and fencing, offsets and repeated ends in both versions.
import { strictEqual } from 'node:assert/strict'
import { eventually } from '../eventually.ts'
import type { ParityCase } from './parity-case.ts'
import { recorded, settled, transactionCase, written } from './transaction-cases.ts'

/** Topic of the cases of this file. */
const topic = 'tx2'
/** Of the one partition of `__consumer_offsets` that both nodes have. */
const GROUP = 'd'

const implicit = (id: string): ParityCase[] => [
  transactionCase(id, 'begins', producer => producer.init()),
  transactionCase(id, 'commits nothing', producer => producer.end(true, { version: 5 })),
  transactionCase(id, 'writes without adding', producer => producer.produce({ topic, version: 12 })),
  transactionCase(id, 'writes more', producer => producer.produce({ topic, version: 12 })),
  transactionCase(id, 'writes elsewhere', producer => producer.produce({ topic, version: 13, partition: 1 })),
  transactionCase(id, 'writes a batch again', producer => producer.produce({ topic, version: 12, sequence: 1 })),
  transactionCase(id, 'writes with a gap', producer => producer.produce({ topic, version: 12, sequence: 9 })),
  transactionCase(id, 'begins elsewhere with a gap', producer =>
    producer.produce({ topic, version: 12, partition: 2, sequence: 3 }),
  ),
  transactionCase(id, 'writes with the next epoch', producer => producer.produce({ topic, version: 12, epoch: 1 })),
  transactionCase(id, 'writes with another id', producer => producer.produce({ topic, version: 12, id: 100_000 })),
  transactionCase(id, 'writes to what is not there', producer => producer.produce({ topic: 'nowhere', version: 12 })),
  transactionCase(id, 'commits with the epoch before', producer => producer.end(true, { version: 5, epoch: -1 })),
  transactionCase(id, 'commits with the next epoch', producer => producer.end(true, { version: 5, epoch: 1 })),
  transactionCase(id, 'commits with another id', producer => producer.end(true, { version: 5, id: 100_000 })),
  transactionCase(id, 'commits', producer => producer.end(true, { version: 5 })),
  settled(id, 'committed'),
  transactionCase(id, 'commits again', producer => producer.end(true, { version: 5, epoch: -1 })),
  transactionCase(id, 'aborts what is committed', producer => producer.end(false, { version: 5, epoch: -1 })),
  transactionCase(id, 'writes with the epoch before', producer =>
    producer.produce({ topic, version: 12, epoch: -1, sequence: 2 }),
  ),
  transactionCase(id, 'begins the next with a gap', producer => producer.produce({ topic, version: 12, sequence: 5 })),
  transactionCase(id, 'writes for the next', producer => producer.produce({ topic, version: 12 })),
  transactionCase(id, 'aborts', producer => producer.end(false, { version: 5 })),
  settled(id, 'aborted'),
  transactionCase(id, 'aborts again', producer => producer.end(false, { version: 5, epoch: -1 })),
  transactionCase(id, 'commits what is aborted', producer => producer.end(true, { version: 5, epoch: -1 })),
  transactionCase(id, 'commits nothing after an abort', producer => producer.end(true, { version: 5 })),
  transactionCase(id, 'aborts nothing', producer => producer.end(false, { version: 5 })),
  settled(id, 'nothing aborted'),
  transactionCase(id, 'goes on', producer => producer.init({ expected: true })),
  transactionCase(id, 'aborts nothing after it went on', producer => producer.end(false, { version: 5 })),
  settled(id, 'nothing aborted again'),
  recorded(id),
]

/** A producer that ends as version 1 what it began as version 2, and the reverse. */
const mixed = (id: string): ParityCase[] => [
  transactionCase(id, 'begins', producer => producer.init()),
  transactionCase(id, 'writes as version 2', producer => producer.produce({ topic, version: 12 })),
  transactionCase(id, 'commits as version 1', producer => producer.end(true, { version: 4 })),
  settled(id, 'committed as version 1'),
  transactionCase(id, 'adds as version 1', producer => producer.add([{ topic }])),
  transactionCase(id, 'writes as version 1', producer => producer.produce({ topic, version: 11 })),
  transactionCase(id, 'writes as version 1 where it did not add', producer =>
    producer.produce({ topic, version: 11, partition: 1 }),
  ),
  transactionCase(id, 'writes as an old client where it did not add', producer =>
    producer.produce({ topic, version: 10, partition: 1 }),
  ),
  transactionCase(id, 'commits as version 2', producer => producer.end(true, { version: 5 })),
  settled(id, 'committed as version 2'),
  recorded(id),
]

const again = (id: string): ParityCase =>
  transactionCase(id, 'a second producer begins until it may', async producer => {
    const answers = new Set<string>()
    await eventually(async () => {
      const answer = await producer.init()
      answers.add(answer.split(',')[0] ?? answer)
      strictEqual(answer.startsWith('NONE'), true)
      answers.add(answer)
    })
    return [...answers].join('; ')
  })

const fencing = (id: string, version: 1 | 2): ParityCase[] => {
  const produceVersion = version === 2 ? 12 : 11
  return [
    transactionCase(id, 'begins', producer => producer.init()),
    ...(version === 1 ? [transactionCase(id, 'adds', producer => producer.add([{ topic }]))] : []),
    transactionCase(id, 'writes', producer => producer.produce({ topic, version: produceVersion })),
    again(id),
    transactionCase(id, 'the first writes', producer =>
      producer.produce({ topic, version: produceVersion, epoch: -2, sequence: 1 }),
    ),
    transactionCase(id, 'the first commits', producer => producer.end(true, { version: 3 + version, epoch: -2 })),
    transactionCase(id, 'the first adds', producer => producer.add([{ topic }], { epoch: -2 })),
    transactionCase(id, 'the first goes on', producer => producer.init({ expected: true, epoch: -2 })),
    transactionCase(id, 'the second goes on with the epoch of the abort', producer =>
      producer.init({ expected: true, epoch: -1 }),
    ),
    recorded(id),
  ]
}

const offsets = (id: string, version: number): ParityCase[] => [
  transactionCase(id, 'begins', producer => producer.init()),
  ...(version < 5
    ? [
        transactionCase(id, 'commits offsets of a group that was not added', producer =>
          producer.commitOffset(GROUP, { version, topic }),
        ),
        transactionCase(id, 'adds the group with the next epoch', producer =>
          producer.addGroup(GROUP, { version: Math.min(version, 4), epoch: 1 }),
        ),
        transactionCase(id, 'adds the group', producer => producer.addGroup(GROUP, { version: Math.min(version, 4) })),
      ]
    : []),
  transactionCase(id, 'commits offsets', producer => producer.commitOffset(GROUP, { version, topic, offset: 3n })),
  transactionCase(id, 'commits offsets of a topic that is not there', producer =>
    producer.commitOffset(GROUP, { version, topic: 'nowhere' }),
  ),
  transactionCase(id, 'commits offsets of a partition that is not there', producer =>
    producer.commitOffset(GROUP, { version, topic, partition: 9 }),
  ),
  transactionCase(id, 'commits offsets of a group without a name', producer =>
    producer.commitOffset('', { version, topic }),
  ),
  transactionCase(id, 'commits offsets with the epoch before', producer =>
    producer.commitOffset(GROUP, { version, topic, epoch: -1 }),
  ),
  transactionCase(id, 'commits offsets with the next epoch', producer =>
    producer.commitOffset(GROUP, { version, topic, epoch: 1 }),
  ),
  transactionCase(id, 'commits offsets with another id', producer =>
    producer.commitOffset(GROUP, { version, topic, id: 100_000 }),
  ),
  ...(version >= 3
    ? [
        transactionCase(id, 'commits offsets as a member that is none', producer =>
          producer.commitOffset(GROUP, { version, topic, generation: 3, member: 'nobody' }),
        ),
      ]
    : []),
  transactionCase(id, 'commits', producer => producer.end(true, { version: version >= 5 ? 5 : 4 })),
  settled(id, 'committed'),
  recorded(id),
]

export const versionTwoCases: readonly ParityCase[] = [
  ...implicit('two'),
  ...mixed('mixed'),
  ...fencing('fenced-1', 1),
  ...fencing('fenced-2', 2),
  ...[0, 1, 2, 3, 4, 5].flatMap(version => offsets(`offsets-${version}`, version)),
  ...[0, 1, 2].map(partition => written(topic, partition)),
]
