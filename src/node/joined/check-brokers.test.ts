/** Before it joins a node learns whether it could log in to the other brokers, and that it would not keep to the cluster's ACLs. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { randomUuid, type Uuid } from '../../core/uuid.ts'
import { type AclImage, AclPattern, AclPermission } from '../../metadata/acl.ts'
import { AclOperation, AclResource, allowAll } from '../../metadata/authorizer.ts'
import { javaBroker } from '../../metadata/fakes/joined-images.ts'
import { type BrokerImage, emptyImage, type MetadataImage } from '../../metadata/metadata-image.ts'
import { PersistentMap } from '../../metadata/persistent-map.ts'
import { answerVersions, startRaw } from '../../network/fakes/raw-server.ts'
import { checkBrokers } from './check-brokers.ts'
import { joinedSettings } from './joined-settings.ts'

const brokerAt = (id: number, port: number, name = 'PLAINTEXT'): BrokerImage =>
  javaBroker(id, { listeners: new Map([[name, { name, host: '127.0.0.1', port, securityProtocol: 0 }]]) })

const imageOf = (...brokers: readonly BrokerImage[]): MetadataImage => ({
  ...emptyImage('c'),
  brokers: new Map(brokers.map(broker => [broker.id, broker])),
})

function check(image: MetadataImage) {
  const kafka = new Map(
    Object.entries({
      'node.id': '1001',
      'controller.listener.names': 'CONTROLLER',
      'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
      'controller.quorum.bootstrap.servers': 'a:9093',
    }),
  )
  return checkBrokers({ nodeId: 1001, kafka, authorizer: allowAll }, joinedSettings(kafka, []), image)
}

test('a broker that answers is enough, and those that do not are named', async t => {
  const port = await startRaw(t, answerVersions)
  deepStrictEqual(await check(imageOf(brokerAt(1, port))), { problems: [], warnings: [] })
  const { problems, warnings } = await check(imageOf(brokerAt(1, port), brokerAt(2, 1)))
  deepStrictEqual([problems, warnings.length], [[], 1])
  match(warnings[0] ?? '', /^broker 2 cannot be reached under its listener PLAINTEXT: .*refused/)
})

test('where no broker can be reached, or none has the listener, nobody could be followed', async () => {
  const { problems } = await check(imageOf(brokerAt(1, 1), brokerAt(2, 1, 'INTERNAL')))
  strictEqual(problems.length, 2)
  match(problems.join('\n'), /broker 1 .*refused.*\nbroker 2 .*has no listener PLAINTEXT/)
  deepStrictEqual(await check(imageOf()), { problems: [], warnings: [] })
})

test('ACLs that the node would not keep to are told', async () => {
  const acl = {
    id: randomUuid(),
    resourceType: AclResource.TOPIC,
    resourceName: 't',
    patternType: AclPattern.LITERAL,
    principal: 'User:a',
    host: '*',
    operation: AclOperation.READ,
    permissionType: AclPermission.ALLOW,
  }
  const acls = PersistentMap.empty<Uuid, AclImage>().edit()
  acls.set(acl.id, acl)
  const { warnings } = await check({ ...imageOf(), acls: acls.finish() })
  match(warnings.join(), /^the cluster has 1 ACLs.*set authorizer\.class\.name/)
})
