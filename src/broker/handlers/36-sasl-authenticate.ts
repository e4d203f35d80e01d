/**
 * SaslAuthenticate (36), versions 0–2; the dispatch table calls it.
 *
 * 0: baseline. 1: lifetime of the session (KIP-368). 2: flexible.
 *
 * Connections of listeners with a login handle it themselves (network/login). It comes here when no login is under way:
 * ILLEGAL_SASL_STATE.
 */
import { ErrorCode } from '../../protocol/errors.ts'
import { SaslAuthenticateApi } from '../../protocol/messages/36-sasl-authenticate.ts'
import { handlerOf } from '../handler.ts'

const answer = (errorCode: number, errorMessage: string | null) => ({
  errorCode,
  errorMessage,
  authBytes: Buffer.alloc(0),
})

export const saslAuthenticate = handlerOf(SaslAuthenticateApi, {
  versions: { min: 0, max: 2 },
  handle: () =>
    answer(ErrorCode.ILLEGAL_SASL_STATE, 'SaslAuthenticate request received after successful authentication'),
  failed: (_request, errorCode) => answer(errorCode, null),
})
