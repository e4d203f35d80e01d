// The cases of the authorization suite, asked of two brokers of one cluster: who leads what differs between them, who may what must not; the suite of joined security compares them.
import type { Uuid } from '../../src/core/uuid.ts'
import type { BrokerConnection } from '../../src/network/broker-connection.ts'
import { ConnectionError } from '../../src/network/connection-error.ts'
import type { ClientSecurity } from '../clients/client-record.ts'
import { connectTo } from '../clients/direct.ts'
import type { AccessCase } from '../parity/authorization/access-case.ts'
import { aclCases } from '../parity/authorization/acl-cases.ts'
import { clusterAccessCases } from '../parity/authorization/cluster-access-cases.ts'
import type { AccessPeer } from '../parity/authorization/logged-in.ts'
import { topicAccessCases } from '../parity/authorization/topic-access-cases.ts'
import type { Question } from '../parity/raw-exchange.ts'

/** Those that leave the cluster as it is: both brokers are asked. */
export const casesOfAccess: readonly AccessCase[] = [
  ...topicAccessCases.filter(({ name }) => name !== 'CreateTopics'),
  ...clusterAccessCases,
  ...aclCases.filter(({ name }) => name.startsWith('DescribeAcls')),
]

/** Every error that comes after the question of rights counts as being let in. */
export const judgement = (answer: string): string =>
  answer.replaceAll(/\b(?!\w*AUTHORIZATION_FAILED\b)(?:NONE|[A-Z]+(?:_[A-Z]+)+)\b/g, 'let in')

/** One broker of the cluster, with a connection per user. */
export class LoggedInPeer implements AccessPeer {
  readonly name: AccessPeer['name']
  readonly port: number
  readonly topicIds = new Map<string, Uuid>()
  readonly #address: string
  readonly #loginOf: (user: string) => ClientSecurity
  readonly #connections = new Map<string, BrokerConnection>()

  constructor(name: AccessPeer['name'], address: string, loginOf: (user: string) => ClientSecurity) {
    this.name = name
    this.port = Number(address.split(':').at(-1))
    this.#address = address
    this.#loginOf = loginOf
  }

  async askAs<Q, QI, R, RI>(user: string, { api, request, version }: Question<Q, QI, R, RI>): Promise<R | 'closed'> {
    const known = this.#connections.get(user)
    const connection = known?.isOpen ? known : await connectTo(this.#address, this.#loginOf(user))
    this.#connections.set(user, connection)
    try {
      return (await connection.send(api, request, { version })).response
    } catch (error) {
      if (error instanceof ConnectionError && error.kind === 'closed') return 'closed'
      throw error
    }
  }

  close(): void {
    for (const connection of this.#connections.values()) connection.close()
  }
}
