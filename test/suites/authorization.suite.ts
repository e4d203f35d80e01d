// The same requests of different users to Apache Kafka 4.3.1 and to Lockstep, both with ACLs and logins: equal answers.
import { deepStrictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { KafkaCluster } from '../kafka/cluster.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import type { AccessCase } from '../parity/authorization/access-case.ts'
import { aclCases, zoesAcls } from '../parity/authorization/acl-cases.ts'
import { clusterAccessCases } from '../parity/authorization/cluster-access-cases.ts'
import { groupAccessCases, setGroups } from '../parity/authorization/group-access-cases.ts'
import { SecuredPeer } from '../parity/authorization/logged-in.ts'
import { addAcls, securedProperties, setScene } from '../parity/authorization/scene.ts'
import { deletionCases, topicAccessCases } from '../parity/authorization/topic-access-cases.ts'
import { transactionAccessCases } from '../parity/authorization/transaction-access-cases.ts'
import { skipWithout } from '../requirements.ts'

const skip = skipWithout('java')
const opened = new Opened()
let peers: readonly [SecuredPeer, SecuredPeer] | undefined
after(async () => {
  for (const peer of peers ?? []) peer.close()
  await opened.close()
})

before(async () => {
  if (skip !== false) return
  const properties = securedProperties()
  const [cluster, node] = await opened.all<[KafkaCluster, LockstepNode]>([
    KafkaCluster.start({ version: '4.3.1', properties }),
    LockstepNode.start({ properties }),
  ])
  peers = [new SecuredPeer('kafka', cluster.bootstrap), new SecuredPeer('lockstep', node.bootstrap)] as const
  await Promise.all(peers.map(setScene))
  await Promise.all(peers.map(setGroups))
  await Promise.all(peers.map(peer => addAcls(peer, zoesAcls)))
})

/** Each user asks both nodes; what differs without a reason, or is equal in spite of one, is collected. */
async function compare(cases: readonly AccessCase[]): Promise<void> {
  if (peers === undefined) throw new Error('the nodes did not start')
  const surprises: { case: string; user: string; kafka: string; lockstep: string }[] = []
  for (const one of cases)
    for (const user of one.users) {
      const [kafka, lockstep] = await Promise.all([one.askAs(user, peers[0]), one.askAs(user, peers[1])])
      if ((kafka === lockstep) === (one.differs !== undefined))
        surprises.push({ case: one.name, user, kafka, lockstep })
    }
  deepStrictEqual(surprises, [])
}

const groups: Readonly<Record<string, readonly AccessCase[]>> = {
  'topics and their data': topicAccessCases,
  'configs, producers and the cluster': clusterAccessCases,
  ACLs: aclCases,
  transactions: transactionAccessCases,
  groups: groupAccessCases,
  'deletion of topics': deletionCases,
}

for (const [group, cases] of Object.entries(groups))
  test(`${group}: users are let in and kept out as by Kafka 4.3.1`, { skip }, () => compare(cases))
