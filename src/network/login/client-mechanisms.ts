/** PLAIN, SCRAM and OAUTHBEARER from the side that logs in; the source client chooses one by a link's properties. */
import { timingSafeEqual } from 'node:crypto'
import { type ClientExchange, type ClientMechanism, LoginImpossible } from './client-exchange.ts'
import {
  clientProof,
  parseServerFinal,
  parseServerFirst,
  SCRAM_ITERATIONS_MIN,
  type ScramMechanism,
  saltedPassword,
  saslName,
  scramHmac,
  scramKeys,
  scramNonce,
} from './scram.ts'

export interface UserAndPassword {
  readonly user: string
  readonly password: string
}

export const plainClient = ({ user, password }: UserAndPassword): ClientMechanism => ({
  name: 'PLAIN',
  begin: () => ({
    next: challenge => (challenge === undefined ? Buffer.from(`\0${user}\0${password}`) : undefined),
  }),
})

/** Kafka takes as many iterations as a server names; beyond these a server only wants to keep us busy. */
const ITERATIONS_MAX = 1_000_000

export const scramClient = (
  mechanism: ScramMechanism,
  login: UserAndPassword,
  makeNonce = scramNonce,
): ClientMechanism => ({
  name: mechanism,
  begin: () => new ScramClient(mechanism, login, makeNonce()),
})

class ScramClient implements ClientExchange {
  readonly #mechanism: ScramMechanism
  readonly #login: UserAndPassword
  readonly #nonce: string
  readonly #bare: string
  #step = 0
  #signature: Buffer | undefined

  constructor(mechanism: ScramMechanism, login: UserAndPassword, nonce: string) {
    this.#mechanism = mechanism
    this.#login = login
    this.#nonce = nonce
    this.#bare = `n=${saslName(login.user)},r=${nonce}`
  }

  async next(challenge: Buffer = Buffer.alloc(0)): Promise<Buffer | undefined> {
    const step = this.#step++
    if (step === 0) return Buffer.from(`n,,${this.#bare}`)
    if (step === 1) return await this.#prove(challenge)
    this.#check(challenge)
    return undefined
  }

  async #prove(challenge: Buffer): Promise<Buffer> {
    const { nonce, salt, iterations } = parseServerFirst(challenge)
    if (!nonce.startsWith(this.#nonce) || nonce === this.#nonce)
      throw new LoginImpossible('the server answered with a nonce that is not made from ours')
    if (iterations < SCRAM_ITERATIONS_MIN || iterations > ITERATIONS_MAX)
      throw new LoginImpossible(`the server asks for ${iterations} iterations`)
    const salted = await saltedPassword(this.#mechanism, this.#login.password, { salt, iterations })
    const withoutProof = `c=biws,r=${nonce}`
    const authMessage = `${this.#bare},${challenge.toString()},${withoutProof}`
    this.#signature = scramHmac(this.#mechanism, scramKeys(this.#mechanism, salted).serverKey, authMessage)
    const proof = clientProof(this.#mechanism, salted, authMessage)
    return Buffer.from(`${withoutProof},p=${proof.toString('base64')}`)
  }

  #check(challenge: Buffer): void {
    const { error, signature } = parseServerFinal(challenge)
    if (error !== undefined) throw new LoginImpossible(`the server ends the login with ${error}`)
    const expected = this.#signature
    if (!expected || signature.length !== expected.length || !timingSafeEqual(signature, expected))
      throw new LoginImpossible('the server does not know the password either: its signature is wrong')
  }
}

/** @param token a token that is worth something now; asked at every login */
export const oauthBearerClient = (
  token: () => Promise<string>,
  extensions: ReadonlyMap<string, string> = new Map(),
): ClientMechanism => ({
  name: 'OAUTHBEARER',
  begin: () => ({
    async next(challenge) {
      if (challenge === undefined) {
        const fields = [['auth', `Bearer ${await token()}`], ...extensions].map(
          ([name, value]) => `${name}=${value}\u0001`,
        )
        return Buffer.from(`n,,\u0001${fields.join('')}\u0001`)
      }
      // A refusal comes as a challenge, is acknowledged, and then told as the error of the login.
      return challenge.length === 0 ? undefined : Buffer.from('\u0001')
    },
  }),
})
