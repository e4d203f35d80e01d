// Transactions as both nodes must carry them out: every version of every request, what is refused with which error, and what is recorded.
import { strictEqual } from 'node:assert/strict'
import { ErrorCode } from '../../src/protocol/errors.ts'
import { FindCoordinatorApi } from '../../src/protocol/messages/10-find-coordinator.ts'
import { DescribeTransactionsApi } from '../../src/protocol/messages/65-describe-transactions.ts'
import { eventually } from '../eventually.ts'
import type { ParityCase } from './parity-case.ts'
import { ask, type Peer } from './raw-exchange.ts'
import { recordedStates, writtenBatches } from './transaction-log.ts'
import { TransactionalPeer } from './transactional-peer.ts'

const producers = new WeakMap<Peer, Map<string, TransactionalPeer>>()

/** The producer of that id at the node, the same one in every case. */
export function producerOf(peer: Peer, id: string): TransactionalPeer {
  const ofPeer = producers.get(peer) ?? new Map<string, TransactionalPeer>()
  producers.set(peer, ofPeer)
  const producer = ofPeer.get(id) ?? new TransactionalPeer(peer, id)
  ofPeer.set(id, producer)
  return producer
}

export const transactionCase = (
  id: string,
  what: string,
  step: (producer: TransactionalPeer, peer: Peer) => Promise<string>,
): ParityCase => ({ name: `transaction of ${id}: ${what}`, ask: peer => step(producerOf(peer, id), peer) })

async function stateOf(peer: Peer, id: string): Promise<string> {
  const answer = await ask(peer, { api: DescribeTransactionsApi, request: { transactionalIds: [id] }, version: 0 })
  if (typeof answer === 'string') throw new Error(`DescribeTransactions: ${answer}`)
  const [found] = answer.transactionStates
  return found?.errorCode === 0 ? found.transactionState : `error ${found?.errorCode}`
}

/** Markers are written behind the answer of EndTxn. */
export const settled = (id: string, when: string): ParityCase =>
  transactionCase(id, `is over, ${when}`, async (_producer, peer) => {
    let state = ''
    await eventually(async () => {
      state = await stateOf(peer, id)
      strictEqual(state.startsWith('Prepare'), false)
    })
    return state
  })

/** As many ids as make sure that each partition of `__transaction_state` has one. */
const PROBES = Array.from({ length: 24 }, (_, index) => `probe-${index}`)

/** Kafka's coordinator comes up, partition by partition, some time after its topic was made. */
export const coordinatorReady: ParityCase = {
  name: 'transactions have a coordinator',
  async ask(peer) {
    await eventually(async () => {
      for (const id of PROBES) {
        const request = { keyType: 1, coordinatorKeys: [id] }
        const answer = await ask(peer, { api: FindCoordinatorApi, request, version: 4 })
        if (typeof answer === 'string') throw new Error(`FindCoordinator: ${answer}`)
        strictEqual(answer.coordinators[0]?.errorCode, 0)
        strictEqual(await stateOf(peer, id), `error ${ErrorCode.TRANSACTIONAL_ID_NOT_FOUND}`)
      }
    })
    return 'ready'
  },
}

export const recorded = (id: string): ParityCase =>
  transactionCase(id, 'is recorded', async (_producer, peer) => (await recordedStates(peer, id)).join('\n'))

export const written = (topic: string, partition = 0): ParityCase => ({
  name: `transactions in ${topic}-${partition}`,
  ask: async peer => (await writtenBatches(peer, topic, partition)).join('\n'),
})

const range = (min: number, max: number): number[] => Array.from({ length: max - min + 1 }, (_, index) => min + index)

const initCases: ParityCase[] = [
  ...range(0, 5).flatMap(version => {
    const id = `init-${version}`
    return [
      transactionCase(id, 'begins', producer => producer.init({ version })),
      transactionCase(id, 'begins again', producer => producer.init({ version })),
    ]
  }),
  ...[3, 4, 5].flatMap(version => {
    const id = `init-${version}`
    const claims = { present: 0, 'the one before': -1, 'one that is fenced': -2, 'one that does not exist': 5 }
    return [
      ...Object.entries(claims).map(([what, epoch]) =>
        transactionCase(id, `goes on with epoch ${what}`, producer =>
          producer.init({ version, expected: true, epoch }),
        ),
      ),
      transactionCase(id, 'goes on with another id', producer =>
        producer.init({ version, expected: true, id: 100_000 }),
      ),
      transactionCase(id, 'goes on without an epoch', producer =>
        producer.init({ version, expected: true, epoch: -1 - producer.producerEpoch }),
      ),
    ]
  }),
  ...[0, -1, 900_000, 900_001].map(timeoutMs =>
    transactionCase('timeouts', `begins with ${timeoutMs} ms`, producer => producer.init({ timeoutMs })),
  ),
  transactionCase('', 'begins without an id', producer => producer.init()),
  recorded('init-5'),
  recorded('timeouts'),
]

const versionOneCases: ParityCase[] = range(0, 3).flatMap(version => {
  const id = `one-${version}`
  return [
    transactionCase(id, 'begins', producer => producer.init({ version })),
    transactionCase(id, 'ends before it began', producer => producer.end(true, { version })),
    transactionCase(id, 'writes before it began', producer => producer.produce({ version: 3 + version })),
    transactionCase(id, 'adds', producer => producer.add([{}, { partition: 1 }], { version })),
    transactionCase(id, 'adds again', producer => producer.add([{}], { version })),
    transactionCase(id, 'adds what is not there', producer => producer.add([{ partition: 9 }, {}], { version })),
    transactionCase(id, 'adds an internal topic', producer =>
      producer.add([{ topic: '__consumer_offsets' }, {}], { version }),
    ),
    transactionCase(id, 'adds nothing', producer => producer.add([], { version })),
    ...[-1, 1].map(epoch =>
      transactionCase(id, `adds with epoch ${epoch}`, producer => producer.add([{}], { version, epoch })),
    ),
    transactionCase(id, 'adds with another id', producer => producer.add([{}], { version, id: 100_000 })),
    transactionCase(id, 'writes', producer => producer.produce({ version: 3 + version })),
    transactionCase(id, 'writes more', producer => producer.produce({ version: 9 + version })),
    transactionCase(id, 'commits with the epoch before', producer => producer.end(true, { version, epoch: -1 })),
    transactionCase(id, 'commits with the next epoch', producer => producer.end(true, { version, epoch: 1 })),
    transactionCase(id, 'commits with another id', producer => producer.end(true, { version, id: 100_000 })),
    transactionCase(id, 'commits', producer => producer.end(true, { version })),
    settled(id, 'committed'),
    transactionCase(id, 'commits again', producer => producer.end(true, { version })),
    transactionCase(id, 'aborts what is committed', producer => producer.end(false, { version })),
    transactionCase(id, 'adds for the next', producer => producer.add([{}], { version })),
    transactionCase(id, 'writes for the next', producer => producer.produce({ version: 3 + version })),
    transactionCase(id, 'aborts', producer => producer.end(false, { version: version + 1 })),
    settled(id, 'aborted'),
    transactionCase(id, 'aborts again', producer => producer.end(false, { version: version + 1 })),
    transactionCase(id, 'commits what is aborted', producer => producer.end(true, { version: version + 1 })),
    recorded(id),
  ]
})

const unknownCases: ParityCase[] = [
  ...range(0, 3).map(version =>
    transactionCase('unknown', `adds, version ${version}`, producer => producer.add([{}], { version })),
  ),
  ...range(0, 4).map(version =>
    transactionCase('unknown', `adds a group, version ${version}`, producer => producer.addGroup('d', { version })),
  ),
  ...range(0, 5).map(version =>
    transactionCase('unknown', `commits, version ${version}`, producer => producer.end(true, { version })),
  ),
  ...range(0, 5).map(version =>
    transactionCase('unknown', `commits offsets, version ${version}`, producer =>
      producer.commitOffset('d', { version, epoch: 1, id: 400_000 }),
    ),
  ),
  ...range(3, 13).map(version =>
    transactionCase('unknown', `writes, version ${version}`, producer =>
      producer.produce({ version, epoch: 1, id: 400_000 }),
    ),
  ),
  transactionCase('', 'adds without an id', producer => producer.add([{}])),
  transactionCase('', 'ends without an id', producer => producer.end(true)),
  transactionCase('unknown', 'writes without an id', producer =>
    producer.produce({ withoutId: true, epoch: 1, id: 400_000 }),
  ),
]

export const transactionCases: readonly ParityCase[] = [
  coordinatorReady,
  ...initCases,
  ...unknownCases,
  ...versionOneCases,
  written('tx'),
  written('tx', 1),
]
