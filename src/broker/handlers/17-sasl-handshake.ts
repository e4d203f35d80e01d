/**
 * SaslHandshake (17), versions 0–1; the dispatch table calls it.
 *
 * 0: what follows are bare tokens. 1: SaslAuthenticate follows.
 *
 * Connections of listeners with a login handle it themselves (network/login). It comes here where nothing is to be logged in
 * to, or the login is over and cannot be renewed: ILLEGAL_SASL_STATE.
 */
import { ErrorCode } from '../../protocol/errors.ts'
import { SaslHandshakeApi } from '../../protocol/messages/17-sasl-handshake.ts'
import { handlerOf } from '../handler.ts'

export const saslHandshake = handlerOf(SaslHandshakeApi, {
  versions: { min: 0, max: 1 },
  handle: () => ({ errorCode: ErrorCode.ILLEGAL_SASL_STATE, mechanisms: [] }),
  failed: (_request, errorCode) => ({ errorCode, mechanisms: [] }),
})
