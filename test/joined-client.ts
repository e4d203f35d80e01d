// The controller side of a joined node without the rest of it: suites let it register with real clusters.

import { ActiveController } from '../src/controller/joined/active-controller.ts'
import { BrokerIncarnation } from '../src/controller/joined/broker-incarnation.ts'
import { ClusterMembership } from '../src/controller/joined/cluster-membership.ts'
import { ControllerQuestions } from '../src/controller/joined/controller-questions.ts'
import { HeartbeatThread } from '../src/controller/joined/heartbeat-thread.ts'
import { JoinedController } from '../src/controller/joined/joined-controller.ts'
import { MetadataObserver } from '../src/controller/joined/metadata-observer.ts'
import { openToAll, quorumConnections } from '../src/controller/joined/quorum-connection.ts'
import { Backoff } from '../src/core/backoff.ts'
import { systemClock } from '../src/core/clock.ts'
import { silentLogger } from '../src/core/logger.ts'
import { systemRandom } from '../src/core/random.ts'
import type { Uuid } from '../src/core/uuid.ts'
import { identifyDirectory } from '../src/log/meta-properties.ts'
import { nodeFileSystem } from '../src/log/node-file-system.ts'
import { lockstepEndpoint } from '../src/metadata/lockstep-nodes.ts'

/** Where it joins, and as whom. */
export interface JoinedClientOptions {
  /** `host:port` of a controller. */
  readonly controller: string
  readonly clusterId: string
  readonly nodeId: number
  /** Data directory; identity and incarnation are kept there. */
  readonly directory: string
}

const TIMEOUT_MS = 2000
const BOOT_ID = 'of-this-machine'

/** Observer, membership and Controller over one quorum. `close()` is a crash as far as the cluster can see. */
export class JoinedClient {
  readonly observer: MetadataObserver
  readonly membership: ClusterMembership
  readonly controller: JoinedController
  readonly incarnation: BrokerIncarnation
  /** For requests of clients that are passed on. */
  readonly questions: ControllerQuestions

  private constructor(options: JoinedClientOptions, of: { directoryId: Uuid; incarnation: BrokerIncarnation }) {
    const { nodeId, clusterId } = options
    const [host = '', port] = options.controller.split(':')
    const addresses = { bootstrap: [{ host, port: Number(port) }], voters: new Map() }
    const clock = systemClock
    const shared = { clock, timeoutMs: TIMEOUT_MS }
    const backoff = () => new Backoff({ initialMs: 50, maxMs: 1000, random: systemRandom })
    const open = quorumConnections({ clientId: 'lockstep', security: openToAll, ...shared })
    const active = () => new ActiveController({ addresses, clusterId: () => clusterId, open, timeoutMs: TIMEOUT_MS })
    const questions = () => new ControllerQuestions({ active: active(), backoff, giveUpMs: 60_000, ...shared })
    const { directoryId, incarnation } = of
    this.incarnation = incarnation
    this.questions = questions()
    this.observer = new MetadataObserver({
      ...shared,
      active: active(),
      nodeId,
      directoryId,
      clusterId,
      backoff: backoff(),
      logger: silentLogger,
    })
    this.membership = new ClusterMembership({
      observer: this.observer,
      questions: questions(),
      incarnation,
      node: {
        nodeId,
        clusterId,
        directoryId,
        rack: null,
      },
      heartbeats: report =>
        new HeartbeatThread({
          setting: {
            clientId: 'lockstep',
            addresses,
            security: openToAll,
            clusterId,
            nodeId,
            directoryId,
            intervalMs: 500,
            hungMs: 3000,
            timeoutMs: TIMEOUT_MS,
          },
          clock,
          logger: silentLogger,
          report,
        }),
      backoff: backoff(),
      registerMs: 60_000,
      clock,
      logger: silentLogger,
    })
    this.controller = new JoinedController({
      observer: this.observer,
      questions: questions(),
      broker: () => ({ id: nodeId, epoch: this.membership.brokerEpoch }),
    })
  }

  /** Resolves when the metadata has been read. */
  static async start(options: JoinedClientOptions): Promise<JoinedClient> {
    const fs = nodeFileSystem()
    const { directory, clusterId, nodeId } = options
    const { directoryId } = await identifyDirectory(fs, { directory, identity: { clusterId, nodeId } })
    const incarnation = await BrokerIncarnation.begin({ fs, directory, bootId: BOOT_ID })
    const client = new JoinedClient(options, { directoryId, incarnation })
    await client.observer.reached()
    await client.observer.subscribe(client.membership.subscriber)
    return client
  }

  /** As `ClusterMembership.join`, with a listener where nobody listens. */
  join(): Promise<void> {
    return this.membership.join([
      { name: 'PLAINTEXT', host: '127.0.0.1', port: 1, securityProtocol: 0 },
      lockstepEndpoint('http://127.0.0.1:1'),
    ])
  }

  async close(): Promise<void> {
    this.questions.close()
    await this.membership.close()
    await this.controller.close()
  }
}
