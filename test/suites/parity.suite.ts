// The same raw requests to Apache Kafka 4.3.1 and to Lockstep: equal answers, or a difference that is listed with its reason.
import { deepStrictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { KafkaCluster } from '../kafka/cluster.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { adminCases } from '../parity/admin-cases.ts'
import { configCases } from '../parity/config-cases.ts'
import { fetchCases } from '../parity/fetch-cases.ts'
import { intendedDifferences } from '../parity/intended-differences.ts'
import { offsetCases } from '../parity/offset-cases.ts'
import type { ParityCase } from '../parity/parity-case.ts'
import { createParityTopics } from '../parity/parity-topics.ts'
import { produceCases } from '../parity/produce-cases.ts'
import { quotaCases } from '../parity/quota-cases.ts'
import type { Peer } from '../parity/raw-exchange.ts'
import { resourceConfigCases } from '../parity/resource-config-cases.ts'
import { topicCases } from '../parity/topic-cases.ts'
import { topicConfigCases } from '../parity/topic-config-cases.ts'
import { skipWithout } from '../requirements.ts'

const skip = skipWithout('java')
const opened = new Opened()
after(() => opened.close())
let peers: readonly [Peer, Peer] | undefined

before(async () => {
  if (skip !== false) return
  const [cluster, node] = await opened.all<[KafkaCluster, LockstepNode]>([
    KafkaCluster.start({ version: '4.3.1' }),
    LockstepNode.start(),
  ])
  const peer = (name: Peer['name'], bootstrap: string): Peer => {
    return { name, port: Number(bootstrap.split(':').at(-1)), topicIds: new Map() }
  }
  const both = [peer('kafka', cluster.bootstrap), peer('lockstep', node.bootstrap)] as const
  await Promise.all(both.map(createParityTopics))
  peers = both
})

/** Asks both nodes the cases in order and collects what is not as the list of differences says. */
async function compare(cases: readonly ParityCase[]): Promise<void> {
  if (peers === undefined) throw new Error('the nodes did not start')
  const surprises: { case: string; kafka: string; lockstep: string }[] = []
  for (const one of cases) {
    const [kafka, lockstep] = await Promise.all([one.ask(peers[0]), one.ask(peers[1])])
    const listed = Object.hasOwn(intendedDifferences, one.name)
    if ((kafka === lockstep) === listed) surprises.push({ case: one.name, kafka, lockstep })
  }
  deepStrictEqual(surprises, [])
}

const groups: Readonly<Record<string, readonly ParityCase[]>> = {
  'topics and metadata': topicCases,
  'configs, directories and versions': configCases,
  'elections, reassignments, the quorum and features': adminCases,
  'configs of groups, client metrics, loggers and brokers': resourceConfigCases,
  produce: produceCases,
  fetch: fetchCases,
  'offsets, epochs and producers': offsetCases,
  quotas: quotaCases,
  'configs that change what is stored': topicConfigCases,
}

test('every case has a name of its own, and every listed difference is a case', () => {
  const names = Object.values(groups).flatMap(cases => cases.map(({ name }) => name))
  deepStrictEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  )
  deepStrictEqual(
    Object.keys(intendedDifferences).filter(name => !names.includes(name)),
    [],
  )
})

for (const [group, cases] of Object.entries(groups))
  test(`${group}: ${cases.length} requests are answered as Kafka 4.3.1 answers them`, { skip }, () => compare(cases))
