/** What is different about the broker of a joined node: clients' requests go on to the controller, consumers to other brokers, and it coordinates nothing. Wired at start. */

import type { JoinedCluster } from '../../broker/joined/joined-cluster.ts'
import { ReplicaRedirect } from '../../broker/joined/replica-redirect.ts'
import type { ControllerQuestions } from '../../controller/joined/controller-questions.ts'
import { forwardRequest } from '../../controller/joined/request-forwarding.ts'
import { COORDINATES_NOTHING } from '../../coordinator/runtime/state-definition.ts'
import type { Clock } from '../../core/clock.ts'
import { type Coordinators, openCoordinators } from '../coordinators.ts'
import type { Startup } from '../startup.ts'

/** The questions are for requests of clients alone: those that wait for a controller must not be in the way of the node's own. */
export function joinedCluster({ questions, clock }: { questions: ControllerQuestions; clock: Clock }): JoinedCluster {
  // So that ApiVersions knows the controller before the first request has to be passed on.
  void questions.reach().catch(() => {})
  return {
    forward: request => forwardRequest(questions, request),
    controllerVersions: apiKey => questions.servedVersions(apiKey),
    readRedirect: new ReplicaRedirect({ clock }),
  }
}

/**
 * Coordinators that answer NOT_COORDINATOR: groups and transactions are the business of the brokers that lead their topics, and a
 * partition of those that lands here is moved away at once. They still know which partition a group is in, and create the topic.
 */
export const joinedCoordinators = (
  options: Omit<Parameters<typeof openCoordinators>[0], 'brokerId'>,
  startup: Startup,
): Promise<Coordinators> => openCoordinators({ ...options, brokerId: COORDINATES_NOTHING }, startup)
