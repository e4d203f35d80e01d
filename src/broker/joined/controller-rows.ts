/** APIs that only the controller of a joined cluster serves: a standalone node has none of them. Rows of the joined table, which passes them on. */
import { ErrorCode } from '../../protocol/errors.ts'
import { CreateDelegationTokenApi } from '../../protocol/messages/38-create-delegation-token.ts'
import { RenewDelegationTokenApi } from '../../protocol/messages/39-renew-delegation-token.ts'
import { ExpireDelegationTokenApi } from '../../protocol/messages/40-expire-delegation-token.ts'
import { DescribeDelegationTokenApi } from '../../protocol/messages/41-describe-delegation-token.ts'
import { AlterClientQuotasApi } from '../../protocol/messages/49-alter-client-quotas.ts'
import { type Handler, handlerOf, RequestFailure } from '../handler.ts'

/** Not reached: the rows are passed on. */
const unserved = (): never => {
  throw new RequestFailure(ErrorCode.UNSUPPORTED_VERSION, 'only the controller does this')
}

const NO_TOKEN = {
  principalType: '',
  principalName: '',
  issueTimestampMs: -1n,
  expiryTimestampMs: -1n,
  maxTimestampMs: -1n,
  tokenId: '',
  hmac: Buffer.alloc(0),
  throttleTimeMs: 0,
}

export const controllerRows: readonly Handler[] = [
  handlerOf(CreateDelegationTokenApi, {
    versions: CreateDelegationTokenApi.request.versions,
    handle: unserved,
    failed: (_request, errorCode) => ({ ...NO_TOKEN, errorCode }),
  }),
  handlerOf(RenewDelegationTokenApi, {
    versions: RenewDelegationTokenApi.request.versions,
    handle: unserved,
    failed: (_request, errorCode) => ({ errorCode, expiryTimestampMs: -1n, throttleTimeMs: 0 }),
  }),
  handlerOf(ExpireDelegationTokenApi, {
    versions: ExpireDelegationTokenApi.request.versions,
    handle: unserved,
    failed: (_request, errorCode) => ({ errorCode, expiryTimestampMs: -1n, throttleTimeMs: 0 }),
  }),
  handlerOf(AlterClientQuotasApi, {
    versions: AlterClientQuotasApi.request.versions,
    handle: unserved,
    failed: ({ entries }, errorCode) => ({
      throttleTimeMs: 0,
      entries: entries.map(({ entity }) => ({ errorCode, errorMessage: null, entity })),
    }),
  }),
]

/** A node has no secret key of tokens, and says so as a broker without one. */
export const describeDelegationToken = handlerOf(DescribeDelegationTokenApi, {
  versions: DescribeDelegationTokenApi.request.versions,
  handle: () => ({ errorCode: ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED, tokens: [], throttleTimeMs: 0 }),
  failed: (_request, errorCode) => ({ errorCode, tokens: [], throttleTimeMs: 0 }),
})
