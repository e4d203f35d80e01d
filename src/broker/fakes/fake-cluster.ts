/** A joined cluster for tests of the broker: the controller is another test node, or refuses. */

import type { ClientRequest } from '../../controller/joined/request-forwarding.ts'
import type { Uuid } from '../../core/uuid.ts'
import { unwatchedProgress } from '../../network/request-handler.ts'
import type { VersionRange } from '../../protocol/schema/version-range.ts'
import type { JoinedCluster } from '../joined/joined-cluster.ts'
import { type ConsumerRead, type ReadRedirect, readHere } from '../read-redirect.ts'
import { clientOf, type TestNode } from './test-node.ts'

export class FakeCluster implements JoinedCluster {
  /** Whatever came through, in its order. */
  readonly forwarded: ClientRequest[] = []
  /** Of `controllerVersions`. */
  readonly versions = new Map<number, VersionRange>()
  readonly trueConfigs = new Map<Uuid, ReadonlyMap<string, string | null>>()
  readonly trueTopicConfigs = (topicId: Uuid) => this.trueConfigs.get(topicId)
  readonly readRedirect: ReadRedirect = { replicaFor: read => this.#redirect.replicaFor(read) }
  #redirect = readHere
  /** Thrown instead of an answer. */
  failure: Error | undefined
  readonly #controller: TestNode | undefined

  constructor(controller?: TestNode) {
    this.#controller = controller
  }

  async forward(request: ClientRequest): Promise<Buffer> {
    this.forwarded.push(request)
    if (this.failure) throw this.failure
    const { principal } = request
    const incoming = { ...request, receivedMs: 0, progress: unwatchedProgress }
    const chunks = await this.#controller?.broker.handle(incoming, clientOf(principal.name))
    return Buffer.concat([...(chunks ?? [])])
  }

  controllerVersions(apiKey: number): VersionRange | undefined {
    return this.versions.get(apiKey)
  }

  /** Every consumer is sent to that broker. */
  redirectTo(brokerId: number): readonly ConsumerRead[] {
    const reads: ConsumerRead[] = []
    this.#redirect = {
      replicaFor(read) {
        reads.push(read)
        return brokerId
      },
    }
    return reads
  }
}
