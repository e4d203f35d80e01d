/**
 * AlterUserScramCredentials (51), version 0 (KIP-554); the dispatch table calls it.
 *
 * Credentials are made from passwords that clients have salted. Each user is answered for itself; needs ALTER on the cluster.
 */
import {
  AlterUserScramCredentialsApi,
  type AlterUserScramCredentialsRequest,
} from '../../protocol/messages/51-alter-user-scram-credentials.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

export const alterUserScramCredentials = handlerOf(AlterUserScramCredentialsApi, {
  versions: { min: 0, max: 0 },
  async handle(broker, { deletions, upsertions }, origin) {
    requireAllowedOnCluster(broker, origin, 'ALTER')
    return { throttleTimeMs: 0, results: await broker.controller.scram.alterCredentials(deletions, upsertions) }
  },
  failed: (request, errorCode) => ({
    throttleTimeMs: 0,
    results: usersOf(request).map(user => ({ user, errorCode, errorMessage: null })),
  }),
})

const usersOf = ({ deletions, upsertions }: AlterUserScramCredentialsRequest): string[] => [
  ...new Set([...deletions, ...upsertions].map(({ name }) => name)),
]
