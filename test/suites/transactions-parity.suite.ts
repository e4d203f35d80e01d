// Raw requests of transactional producers, brokers and administrators to Apache Kafka 4.3.1 and to Lockstep: equal answers, and equal records.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { after, test } from 'node:test'
import { UpdateFeaturesApi } from '../../src/protocol/messages/57-update-features.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { everythingIsInForce } from '../parity/in-force.ts'
import type { ParityCase } from '../parity/parity-case.ts'
import { createParityTopics } from '../parity/parity-topics.ts'
import { ask, type Peer } from '../parity/raw-exchange.ts'
import { transactionAdminCases } from '../parity/transaction-admin-cases.ts'
import { transactionCases } from '../parity/transaction-cases.ts'
import { versionTwoCases } from '../parity/transaction-version-two-cases.ts'
import { skipWithout } from '../requirements.ts'

const skip = skipWithout('java')
const opened = new Opened()
after(() => opened.close())

const cases: readonly ParityCase[] = [...transactionCases, ...versionTwoCases, ...transactionAdminCases]

async function startBoth(): Promise<readonly [Peer, Peer]> {
  const [cluster, node] = await opened.all<[KafkaCluster, LockstepNode]>([
    KafkaCluster.start({ version: '4.3.1' }),
    LockstepNode.start({ properties: { 'transaction.state.log.num.partitions': '4' } }),
  ])
  const peer = (name: Peer['name'], bootstrap: string): Peer => {
    return { name, port: Number(bootstrap.split(':').at(-1)), topicIds: new Map() }
  }
  const both = [peer('kafka', cluster.bootstrap), peer('lockstep', node.bootstrap)] as const
  await Promise.all(both.map(createParityTopics))
  return both
}

async function compare(both: readonly [Peer, Peer]): Promise<void> {
  const surprises: { case: string; kafka: string; lockstep: string }[] = []
  for (const one of cases) {
    const [kafka, lockstep] = await Promise.all([one.ask(both[0]), one.ask(both[1])])
    if (kafka !== lockstep) surprises.push({ case: one.name, kafka, lockstep })
  }
  deepStrictEqual(surprises, [])
}

const SAFE_DOWNGRADE = 2

async function setTransactionVersion(peer: Peer, level: number): Promise<void> {
  const featureUpdates = [{ feature: 'transaction.version', maxVersionLevel: level, upgradeType: SAFE_DOWNGRADE }]
  const request = { timeoutMs: 60_000, featureUpdates }
  const answer = await ask(peer, { api: UpdateFeaturesApi, request, version: 1 })
  if (typeof answer === 'string') throw new Error(`UpdateFeatures: ${answer}`)
  deepStrictEqual([answer.errorCode, answer.results.map(({ errorCode }) => errorCode)], [0, [0]], peer.name)
}

test('every case has a name of its own', () => {
  strictEqual(new Set(cases.map(({ name }) => name)).size, cases.length)
})

test(`${cases.length} requests are answered as Kafka 4.3.1 answers them`, { skip }, async () => {
  await compare(await startBoth())
})

test('and so they are when the cluster has gone back to transaction version 1', { skip }, async () => {
  const both = await startBoth()
  await Promise.all(both.map(peer => setTransactionVersion(peer, 1)))
  await Promise.all(both.map(everythingIsInForce))
  await compare(both)
})
