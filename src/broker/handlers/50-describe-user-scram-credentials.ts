/**
 * DescribeUserScramCredentials (50), version 0 (KIP-554); the dispatch table calls it.
 *
 * Which users have credentials of which mechanism, with the iterations; never salts or keys. No list, or an empty one, means all
 * users. A user named twice is DUPLICATE_RESOURCE, one without credentials RESOURCE_NOT_FOUND. Needs DESCRIBE on the cluster.
 */
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  DescribeUserScramCredentialsApi,
  type DescribeUserScramCredentialsResponseInput,
} from '../../protocol/messages/50-describe-user-scram-credentials.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

type UserAnswer = DescribeUserScramCredentialsResponseInput['results'][number]

export const describeUserScramCredentials = handlerOf(DescribeUserScramCredentialsApi, {
  versions: { min: 0, max: 0 },
  handle(broker, { users }, origin) {
    requireAllowedOnCluster(broker, origin, 'DESCRIBE')
    const known = credentialsByUser(origin.image)
    const asked = users === null || users.length === 0 ? [...known.keys()] : users.map(({ name }) => name)
    const distinct = [...new Set(asked)]
    const isTwice = (user: string) => asked.indexOf(user) !== asked.lastIndexOf(user)
    return {
      throttleTimeMs: 0,
      errorCode: ErrorCode.NONE,
      errorMessage: null,
      results: distinct.map(user => (isTwice(user) ? namedTwice(user) : described(user, known.get(user)))),
    }
  },
  failed: ({ users }, errorCode) => ({
    throttleTimeMs: 0,
    errorCode,
    errorMessage: null,
    results: (users ?? []).map(({ name: user }) => ({ user, errorCode, errorMessage: null, credentialInfos: [] })),
  }),
})

function credentialsByUser({ scramCredentials }: MetadataImage): Map<string, UserAnswer['credentialInfos']> {
  const users = new Map<string, UserAnswer['credentialInfos']>()
  for (const { user, mechanism, iterations } of scramCredentials.values())
    users.set(user, [...(users.get(user) ?? []), { mechanism, iterations }])
  return users
}

const namedTwice = (user: string): UserAnswer => ({
  user,
  errorCode: ErrorCode.DUPLICATE_RESOURCE,
  errorMessage: `Cannot describe SCRAM credentials for the same user twice in a single request: ${user}`,
  credentialInfos: [],
})

const described = (user: string, credentialInfos: UserAnswer['credentialInfos'] | undefined): UserAnswer =>
  credentialInfos
    ? { user, errorCode: ErrorCode.NONE, errorMessage: null, credentialInfos }
    : {
        user,
        errorCode: ErrorCode.RESOURCE_NOT_FOUND,
        errorMessage: `Attempt to describe a user credential that does not exist: ${user}`,
        credentialInfos: [],
      }
