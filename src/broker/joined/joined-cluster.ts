/** What the broker of a node that joined an Apache Kafka cluster is given of that cluster; node/ makes it, and without it the broker is a cluster of its own. */
import type { ClientRequest } from '../../controller/joined/request-forwarding.ts'
import type { TrueTopicConfigs } from '../../metadata/config-resolution.ts'
import type { VersionRange } from '../../protocol/schema/version-range.ts'
import type { ReadRedirect } from '../read-redirect.ts'

export interface JoinedCluster {
  /**
   * Passes a client's request on to the active controller, which judges it by the client's own rights. Resolves to the body of the
   * answer; rejects with an OperationalError of `controller/joined`.
   */
  forward(request: ClientRequest): Promise<Buffer>
  /** What the active controller takes of an API; undefined while no controller is known, or if it does not have the API. */
  controllerVersions(apiKey: number): VersionRange | undefined
  /** What clients are told of a mirror's configs in place of those that keep them from writing it. */
  readonly trueTopicConfigs: TrueTopicConfigs
  /** Where consumers are sent to read. */
  readonly readRedirect: ReadRedirect
}
