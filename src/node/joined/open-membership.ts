/** Everything of a joined node that talks to the controllers: observer, membership with its heartbeats, commands; made at start. */
import { ActiveController } from '../../controller/joined/active-controller.ts'
import type { BrokerIncarnation } from '../../controller/joined/broker-incarnation.ts'
import { ClusterMembership } from '../../controller/joined/cluster-membership.ts'
import { ControllerQuestions } from '../../controller/joined/controller-questions.ts'
import { CordonLift } from '../../controller/joined/cordon-lift.ts'
import { HeartbeatThread } from '../../controller/joined/heartbeat-thread.ts'
import { JoinedController } from '../../controller/joined/joined-controller.ts'
import { MetadataObserver } from '../../controller/joined/metadata-observer.ts'
import { quorumConnections } from '../../controller/joined/quorum-connection.ts'
import { Backoff } from '../../core/backoff.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { OperationalError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { systemRandom } from '../../core/random.ts'
import type { Uuid } from '../../core/uuid.ts'
import { type NodeSettings, numberOf } from '../settings.ts'
import type { Startup } from '../startup.ts'
import { type JoinedSettings, peerSecurity } from './joined-settings.ts'

export interface JoiningNode {
  readonly settings: NodeSettings & { readonly joined: JoinedSettings }
  readonly clusterId: string
  readonly directoryId: Uuid
  readonly incarnation: BrokerIncarnation
  readonly clock: Clock
  readonly logger: Logger
}

export interface Membership {
  readonly observer: MetadataObserver
  readonly controller: JoinedController
  readonly membership: ClusterMembership
  /** A client of the controllers for what the Controller port does not have, such as requests of clients in an Envelope. */
  readonly questions: ControllerQuestions
}

/** Once a heartbeat failed, several more fit into a session of 9 s. */
const HUNG_MS = 3000
/** For all attempts at a command together. */
const COMMAND_MS = 60_000

/** Resolves when the metadata has been read; nothing is registered yet. Rejects with what stands in the way, for example OTHER_CLUSTER. */
export async function openMembership(node: JoiningNode, startup: Startup): Promise<Membership> {
  const { settings, clusterId, directoryId, incarnation, clock, logger } = node
  const { joined, nodeId, kafka } = settings
  const { addresses, requestTimeoutMs: timeoutMs } = joined
  const security = await peerSecurity(joined.controllers, kafka)
  const clientId = `lockstep-${nodeId}`
  const open = quorumConnections({ clientId, security, clock, timeoutMs })
  const backoff = () => new Backoff({ initialMs: 50, maxMs: 1000, random: systemRandom })
  const active = () => new ActiveController({ addresses, clusterId: () => clusterId, open, timeoutMs })
  const ask = () => new ControllerQuestions({ active: active(), clock, backoff, giveUpMs: COMMAND_MS, timeoutMs })
  const startMs = numberOf(settings, 'initial.broker.registration.timeout.ms')
  const questions = ask()
  startup.onStop('questions to the controllers', () => questions.close())
  await reachController(questions, { clock, logger, giveUpMs: startMs, backoff: backoff() })
  const setting = {
    ...{ clientId, addresses, security, clusterId, nodeId, directoryId, timeoutMs },
    intervalMs: numberOf(settings, 'broker.heartbeat.interval.ms'),
    hungMs: HUNG_MS,
  }
  const observer = new MetadataObserver({
    ...setting,
    active: active(),
    backoff: backoff(),
    clock,
    logger: logger.child({ component: 'metadata' }),
    onFailure: () => membership.fence(),
  })
  const membershipLogger = logger.child({ component: 'membership' })
  const membership = new ClusterMembership({
    observer,
    questions: ask(),
    incarnation,
    node: { nodeId, clusterId, directoryId, rack: settings.rack },
    heartbeats: report => new HeartbeatThread({ setting, clock, logger: membershipLogger, report }),
    backoff: backoff(),
    registerMs: startMs,
    clock,
    logger: membershipLogger,
  })
  const broker = () => ({ id: nodeId, epoch: membership.brokerEpoch })
  const cordon = (wanted: boolean) => membership.cordon(wanted)
  const cordonLift = new CordonLift({ brokerId: nodeId, image: () => observer.image, cordon, clock })
  const controller = new JoinedController({ observer, questions: ask(), cordonLift, broker })
  startup.onStop('controller client', () => controller.close())
  startup.onStop('membership', () => membership.close())
  await observer.reached()
  return { observer, controller, membership, questions }
}

/** Tells at once what will not pass by itself, such as a wrong cluster id; waits for what may. */
async function reachController(
  questions: ControllerQuestions,
  of: { readonly clock: Clock; readonly logger: Logger; readonly giveUpMs: number; readonly backoff: Backoff },
): Promise<void> {
  const { clock, logger, giveUpMs, backoff } = of
  const deadline = clock.monotonicMs() + giveUpMs
  for (;;) {
    try {
      return await questions.reach()
    } catch (error) {
      const passes = error instanceof OperationalError && error.retriable
      if (!passes || clock.monotonicMs() > deadline) throw error
      logger.warn('waiting for the controllers of the cluster', { reason: error.message })
    }
    await sleep(clock, backoff.nextMs())
  }
}
