/** Who creates the topics of coordinators in a joined cluster, and what is said when nobody does. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startQuorum } from '../../controller/joined/fakes/observe-quorum.ts'
import { openToAll, quorumConnections } from '../../controller/joined/quorum-connection.ts'
import { clusterOf } from '../../controller/local/fakes/cluster-images.ts'
import { systemClock } from '../../core/clock.ts'
import { RecordingLogger } from '../../network/fakes/recording-logger.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { FindCoordinatorRequest, FindCoordinatorResponse } from '../../protocol/messages/10-find-coordinator.ts'
import { controllerOfCoordinators } from './coordinator-topics.ts'

const topicOf = (name: string) => ({
  name,
  partitions: 50,
  replicationFactor: 2,
  assignments: new Map<number, number[]>(),
  configs: new Map<string, string>(),
})

/** Broker 1 of the cluster answers FindCoordinator with that code. */
async function askedBroker(t: TestContext, errorCode: number) {
  const broker = await startQuorum(t, { serves: new Map([[10, 6]]) })
  const asked: FindCoordinatorRequest[] = []
  broker.commands.set(10, ({ body, apiVersion }) => {
    const request = FindCoordinatorRequest.decode(body, apiVersion)
    asked.push(request)
    const found = { nodeId: -1, host: '', port: -1, errorCode, errorMessage: null }
    const coordinators = request.coordinatorKeys.map(key => ({ key, ...found }))
    return FindCoordinatorResponse.encode({ throttleTimeMs: 0, coordinators }, apiVersion)
  })
  const open = quorumConnections({ clientId: 'c', security: openToAll, clock: systemClock, timeoutMs: 10_000 })
  const [place = { host: '', port: 0 }] = broker.places
  const logger = new RecordingLogger()
  const image = clusterOf(1)
  const cluster = { image, subscribe: async () => {}, createTopics: () => Promise.reject(new Error('never')) }
  const connection = open(place)
  t.after(async () => (await connection).close())
  return {
    asked,
    logger,
    controller: controllerOfCoordinators({ controller: cluster, connections: { to: () => connection }, logger }),
  }
}

test('a Kafka broker is asked for the coordinator, which creates the topic; it is not there yet', async t => {
  const { asked, controller } = await askedBroker(t, ErrorCode.COORDINATOR_NOT_AVAILABLE)
  const names = ['__consumer_offsets', '__transaction_state', '__share_group_state']
  for (const name of names) {
    const [answer] = await controller.createTopics([topicOf(name)], { validateOnly: false })
    strictEqual(answer?.errorCode, ErrorCode.COORDINATOR_NOT_AVAILABLE)
  }
  deepStrictEqual(
    asked.map(({ keyType }) => keyType),
    [0, 1, 2],
  )
})

test('who may not ask says which right is missing', async t => {
  const { logger, controller } = await askedBroker(t, ErrorCode.GROUP_AUTHORIZATION_FAILED)
  const [answer] = await controller.createTopics([topicOf('__consumer_offsets')], { validateOnly: false })
  match(answer?.errorMessage ?? '', /lacks DESCRIBE on the group __lockstep; grant it/)
  strictEqual(logger.lines.length, 1)
})
