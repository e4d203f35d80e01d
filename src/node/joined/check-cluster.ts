/** `lockstep server --check` of a node that joins: looks at the cluster with the node's own settings, and registers nothing. */
import { ActiveController } from '../../controller/joined/active-controller.ts'
import { ControllerQuestions } from '../../controller/joined/controller-questions.ts'
import { checkJoining, type JoiningReport } from '../../controller/joined/joining-check.ts'
import { MetadataObserver } from '../../controller/joined/metadata-observer.ts'
import { quorumConnections } from '../../controller/joined/quorum-connection.ts'
import { Backoff } from '../../core/backoff.ts'
import { systemClock } from '../../core/clock.ts'
import { messageOf, OperationalError } from '../../core/errors.ts'
import { silentLogger } from '../../core/logger.ts'
import { systemRandom } from '../../core/random.ts'
import { randomUuid, ZERO_UUID } from '../../core/uuid.ts'
import { loadMetaProperties } from '../../log/meta-properties.ts'
import { nodeFileSystem } from '../../log/node-file-system.ts'
import { SECURITY_PROTOCOLS } from '../listeners.ts'
import type { NodeSettings } from '../settings.ts'
import { checkBrokers } from './check-brokers.ts'
import { type JoinedSettings, peerSecurity } from './joined-settings.ts'
import { checkPeerKey } from './peer-key-check.ts'

/** For all questions together: a cluster that works answers in a moment. */
const CHECK_MS = 20_000

/** Never rejects: what fails is a problem of the report. */
export async function checkCluster(settings: NodeSettings, joined: JoinedSettings): Promise<JoiningReport> {
  try {
    return await look(settings, joined)
  } catch (error) {
    const hint = error instanceof OperationalError && error.hint ? ` (${error.hint})` : ''
    return { facts: [], warnings: [], problems: [`${messageOf(error)}${hint}`], clusterId: undefined }
  }
}

async function look(settings: NodeSettings, joined: JoinedSettings): Promise<JoiningReport> {
  const clock = systemClock
  const timeoutMs = joined.requestTimeoutMs
  const security = await peerSecurity(joined.controllers, settings.kafka)
  const present = await loadMetaProperties(nodeFileSystem(), settings.dataDirectory)
  const clusterId = settings.clusterId ?? present?.clusterId ?? null
  const open = quorumConnections({ clientId: `lockstep-${settings.nodeId}-check`, security, clock, timeoutMs })
  const active = () =>
    new ActiveController({ addresses: joined.addresses, clusterId: () => clusterId, open, timeoutMs })
  const backoff = () => new Backoff({ initialMs: 100, maxMs: 1000, random: systemRandom })
  const questions = new ControllerQuestions({ active: active(), clock, backoff, giveUpMs: CHECK_MS, timeoutMs })
  try {
    // First one question that fails with a reason; the observer would try for ever.
    await questions.reach()
    const observer = new MetadataObserver({
      active: active(),
      // Counted among nobody's observers.
      nodeId: -1,
      directoryId: ZERO_UUID,
      clusterId,
      timeoutMs,
      backoff: backoff(),
      clock,
      logger: silentLogger,
    })
    try {
      await withinLimit(observer.reached())
      const report = await checkJoining(questions, observer.image, {
        nodeId: settings.nodeId,
        incarnationId: randomUuid(),
        listeners: endpointsOf(settings),
        rack: settings.rack,
      })
      const { problem = [], warning = [] } = await checkPeerKey(settings, observer.image)
      const brokers = await checkBrokers(settings, joined, observer.image)
      const problems = report.problems.concat(problem, brokers.problems)
      const warnings = report.warnings.concat(warning, brokers.warnings)
      return withClusterId({ ...report, problems, warnings }, clusterId)
    } finally {
      await observer.close()
    }
  } finally {
    questions.close()
  }
}

const endpointsOf = ({ listeners }: NodeSettings) =>
  listeners.listen.map(({ name, host, port, protocol }) => ({
    name,
    host,
    port,
    securityProtocol: SECURITY_PROTOCOLS.indexOf(protocol),
  }))

/** Registrations name the cluster; an id that is in no file would have to be believed. */
function withClusterId(report: JoiningReport, ours: string | null): JoiningReport {
  if (ours !== null) return report
  const told = report.clusterId === undefined ? '' : `: the controllers call it ${report.clusterId}`
  return { ...report, problems: [...report.problems, `cluster.id must name the cluster to join${told}`] }
}

async function withinLimit(reached: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = systemClock.after(CHECK_MS, () =>
    reject(new Error(`the cluster's metadata could not be read in ${CHECK_MS / 1000} s`)),
  )
  await Promise.race([reached, promise]).finally(() => timer.cancel())
}
