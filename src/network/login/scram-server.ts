/** The server's side of SCRAM-SHA-256 and SCRAM-SHA-512: the client proves that it knows the password, and so do we. */
import { createHmac, randomBytes } from 'node:crypto'
import { type LoginExchange, LoginRefused, type LoginStep } from './login-exchange.ts'
import {
  parseClientFinal,
  parseClientFirst,
  proofMatches,
  SCRAM_ITERATIONS_MIN,
  type ScramCredential,
  type ScramMechanism,
  ScramMessageError,
  scramHashBytes,
  scramHmac,
  scramNonce,
} from './scram.ts'

/** The credential of a user; undefined = the user has none for this mechanism. */
export type ScramLookup = (user: string, mechanism: ScramMechanism) => ScramCredential | undefined

/** Makes up the same salt for the same unknown name, for as long as the process lives. */
const unknownUserKey = randomBytes(32)

interface Begun {
  readonly user: string
  readonly known: boolean
  readonly credential: ScramCredential
  readonly nonce: string
  /** What both sides have said so far. */
  readonly said: string
}

/**
 * An unknown user is given a made-up salt and fails with the proof, as a wrong password does: who does not know a password
 * does not learn which users exist.
 */
export class ScramServer implements LoginExchange {
  readonly #mechanism: ScramMechanism
  readonly #lookup: ScramLookup
  readonly #makeNonce: () => string
  #begun: Begun | undefined

  constructor(mechanism: ScramMechanism, lookup: ScramLookup, makeNonce = scramNonce) {
    this.#mechanism = mechanism
    this.#lookup = lookup
    this.#makeNonce = makeNonce
  }

  respond(message: Buffer): LoginStep {
    try {
      return this.#begun ? this.#finish(this.#begun, message) : this.#begin(message)
    } catch (error) {
      if (error instanceof ScramMessageError) throw new LoginRefused(error.message)
      throw error
    }
  }

  #begin(message: Buffer): LoginStep {
    const { user, nonce: clientNonce, bare, authorizationId, byToken } = parseClientFirst(message)
    if (byToken) throw new LoginRefused('delegation tokens are not supported')
    if (authorizationId !== '' && authorizationId !== user) {
      const text = 'Authentication failed: Client requested an authorization id that is different from username'
      throw new LoginRefused(text, text)
    }
    const found = this.#lookup(user, this.#mechanism)
    if (found && found.iterations < SCRAM_ITERATIONS_MIN)
      throw new LoginRefused(`the credential has ${found.iterations} iterations, fewer than ${SCRAM_ITERATIONS_MIN}`)
    const credential = found ?? madeUp(user, this.#mechanism)
    const nonce = clientNonce + this.#makeNonce()
    const reply = `r=${nonce},s=${credential.salt.toString('base64')},i=${credential.iterations}`
    this.#begun = { user, known: found !== undefined, credential, nonce, said: `${bare},${reply}` }
    return { reply: Buffer.from(reply) }
  }

  #finish({ user, known, credential, nonce, said }: Begun, message: Buffer): LoginStep {
    const final = parseClientFinal(message)
    // Older librdkafka puts its own nonce before ours, which begins with it already; the proof covers what it sent.
    if (!final.nonce.endsWith(nonce)) throw new LoginRefused('the nonce of the final message is another one')
    // Channel binding is neither offered nor taken.
    if (!final.binding.startsWith('n,')) throw new LoginRefused('the client asks for channel binding')
    const authMessage = `${said},${final.withoutProof}`
    const matches = proofMatches(this.#mechanism, credential.storedKey, { proof: final.proof, authMessage })
    if (!known || !matches) throw new LoginRefused(known ? 'the password is wrong' : 'no such user')
    const signature = scramHmac(this.#mechanism, credential.serverKey, authMessage)
    return { reply: Buffer.from(`v=${signature.toString('base64')}`), identity: { name: user } }
  }
}

function madeUp(user: string, mechanism: ScramMechanism): ScramCredential {
  const salt = createHmac('sha256', unknownUserKey).update(`${mechanism} ${user}`).digest().subarray(0, 24)
  const key = Buffer.alloc(scramHashBytes(mechanism))
  return { salt, storedKey: key, serverKey: key, iterations: SCRAM_ITERATIONS_MIN }
}
