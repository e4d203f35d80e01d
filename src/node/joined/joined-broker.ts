/** What is different about the broker of a joined node: clients' requests go on to the controller, consumers to other brokers, and it coordinates nothing. Wired at start. */

import { Gauge, Registry } from 'prom-client'
import type { JoinedCluster } from '../../broker/joined/joined-cluster.ts'
import { ReplicaRedirect } from '../../broker/joined/replica-redirect.ts'
import type { ControllerQuestions } from '../../controller/joined/controller-questions.ts'
import { forwardRequest } from '../../controller/joined/request-forwarding.ts'
import { COORDINATES_NOTHING } from '../../coordinator/runtime/state-definition.ts'
import type { Clock } from '../../core/clock.ts'
import type { TrueTopicConfigs } from '../../metadata/config-resolution.ts'
import type { BrokerConnections } from '../../replica/broker-connections.ts'
import type { MetricsSource } from '../../rest/ports.ts'
import { type Coordinators, openCoordinators } from '../coordinators.ts'
import type { Startup } from '../startup.ts'
import { controllerOfCoordinators } from './coordinator-topics.ts'

/** The questions are for requests of clients alone: those that wait for a controller must not be in the way of the node's own. */
export function joinedCluster({
  questions,
  clock,
  trueTopicConfigs,
}: {
  questions: ControllerQuestions
  clock: Clock
  trueTopicConfigs: TrueTopicConfigs
}): {
  readonly cluster: JoinedCluster
  readonly metrics: MetricsSource
} {
  // So that ApiVersions knows the controller before the first request has to be passed on.
  void questions.reach().catch(() => {})
  const readRedirect = new ReplicaRedirect({ clock })
  let forwarded = 0
  const cluster: JoinedCluster = {
    forward(request) {
      forwarded++
      return forwardRequest(questions, request)
    },
    controllerVersions: apiKey => questions.servedVersions(apiKey),
    trueTopicConfigs,
    readRedirect,
  }
  return { cluster, metrics: clientMetrics(() => ({ ...readRedirect.figures, forwarded })) }
}

function clientMetrics(
  figures: () => { readonly redirected: number; readonly served: number; readonly forwarded: number },
): MetricsSource {
  const registry = new Registry()
  const gauge = (name: string, help: string) => new Gauge({ name: `lockstep_${name}`, help, registers: [registry] })
  const redirected = gauge('reads_redirected', 'Reads of a partition for which a consumer was sent to a Kafka broker')
  const served = gauge('reads_served', 'Reads of a partition by consumers that could not be sent away or did not go')
  const forwarded = gauge('requests_forwarded', 'Requests of clients that were passed on to the controller')
  return {
    text: () => {
      const now = figures()
      redirected.set(now.redirected)
      served.set(now.served)
      forwarded.set(now.forwarded)
      return registry.metrics()
    },
  }
}

/**
 * Coordinators that answer NOT_COORDINATOR: groups and transactions are the business of the brokers that lead their topics, and a
 * partition of those that lands here is moved away at once. They still know which partition a group is in.
 */
export function joinedCoordinators(
  options: Omit<Parameters<typeof openCoordinators>[0], 'brokerId'> & { readonly connections: BrokerConnections },
  startup: Startup,
): Promise<Coordinators> {
  const { connections, ...parts } = options
  const controller = controllerOfCoordinators({ ...parts, connections })
  return openCoordinators({ ...parts, controller, brokerId: COORDINATES_NOTHING }, startup)
}
