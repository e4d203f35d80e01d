// One request that every user of the scene asks; made by the case files, compared by the authorization suite.
import { errorName } from '../../../src/protocol/errors.ts'
import type { Api } from '../../../src/protocol/schema/message.ts'
import { comparable } from '../parity-case.ts'
import type { AccessPeer } from './logged-in.ts'
import { USERS, type User } from './scene.ts'

export interface AccessCase {
  /** Unique; begins with the API. */
  readonly name: string
  readonly users: readonly User[]
  /** Why Lockstep answers otherwise on purpose. */
  readonly differs: string | undefined
  /** Resolves to what the node answers, as text that can be compared. */
  readonly askAs: (user: User, peer: AccessPeer) => Promise<string>
}

export interface AccessCaseOptions<QI, R> {
  /** Default: the highest. */
  readonly version?: number
  /** Default: all. */
  readonly users?: readonly User[]
  readonly differs?: string | undefined
  readonly request: QI | ((peer: AccessPeer) => QI)
  /** The part that is compared; default: all of it. */
  readonly show?: (answer: R, peer: AccessPeer) => unknown
}

export const accessCase = <Q, QI, R, RI>(
  what: string,
  api: Api<Q, QI, R, RI>,
  options: AccessCaseOptions<QI, R>,
): AccessCase => ({
  name: `${api.name} ${what}`.trim(),
  users: options.users ?? USERS,
  differs: options.differs,
  async askAs(user, peer) {
    const { request, show = answer => answer, version = api.request.versions.max } = options
    const asked = typeof request === 'function' ? (request as (peer: AccessPeer) => QI)(peer) : request
    const answer = await peer.askAs(user, { api, request: asked, version })
    return typeof answer === 'string' ? answer : comparable(show(answer, peer))
  },
})

/** Name and error of each, in the order of the names: what an answer says about access. */
export const errorsOf = <T extends { readonly errorCode: number }>(items: readonly T[], name: (item: T) => string) =>
  items.map(item => `${name(item)}: ${errorName(item.errorCode)}`).sort()

/** Ids differ from node to node: answers are compared by the topic's name. */
export const nameOf = (peer: AccessPeer, id: string) =>
  [...peer.topicIds].find(([, known]) => known === id)?.[0] ?? 'unknown'
