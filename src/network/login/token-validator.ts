/** Judges the tokens of OAUTHBEARER logins as Kafka's validator does: signature, times, audience, issuer, subject, scope. Listeners with that mechanism use it. */
import { type JWTPayload, jwtVerify } from 'jose'
import type { Clock } from '../../core/clock.ts'
import type { JsonWebKeys } from './json-web-keys.ts'
import type { TokenValidator } from './oauthbearer-server.ts'

export interface TokenDemands {
  readonly keys: Pick<JsonWebKeys, 'keyFor'>
  /** One of them must be in `aud`; empty = any. */
  readonly audiences: readonly string[]
  readonly issuer: string | undefined
  readonly clockSkewSeconds: number
  /** The claim that names the user, usually `sub`. */
  readonly subjectClaim: string
  /** Usually `scope`. */
  readonly scopeClaim: string
  readonly clock: Clock
}

/** `exp` and `iat` are required, `nbf` counts if it is there. Unsigned tokens are never taken. */
export function tokenValidator(demands: TokenDemands): TokenValidator {
  const { keys, audiences, issuer, clock } = demands
  return async token => {
    const { payload } = await jwtVerify(token, keys.keyFor, {
      currentDate: new Date(clock.nowMs()),
      clockTolerance: demands.clockSkewSeconds,
      requiredClaims: ['exp', 'iat'],
      ...(audiences.length > 0 ? { audience: [...audiences] } : {}),
      ...(issuer === undefined ? {} : { issuer }),
    })
    checkScopes(payload[demands.scopeClaim], demands.scopeClaim)
    const { exp, iat } = payload
    if (exp === undefined || exp < 0 || iat === undefined || iat < 0) throw new Error('exp or iat is not a time')
    return { name: subjectOf(payload, demands.subjectClaim), expiresMs: exp * 1000 }
  }
}

function subjectOf(payload: JWTPayload, claim: string): string {
  const value = payload[claim]
  if (typeof value !== 'string' || value.trim() === '') throw new Error(`the claim ${claim} is not a name`)
  return value.trim()
}

function checkScopes(value: unknown, claim: string): void {
  const scopes: readonly unknown[] = Array.isArray(value) ? value : typeof value === 'string' ? [value] : []
  const names = scopes.map(scope => (typeof scope === 'string' ? scope.trim() : ''))
  if (names.includes('') || new Set(names).size < names.length)
    throw new Error(`the claim ${claim} is not a list of scopes`)
}
