/** Is this the password of that user? By the users file, or by the cluster's SCRAM credentials. Asked by the logins of REST. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { isPasswordHash, passwordMatches } from '../../core/password-hash.ts'
import { SerialQueue } from '../../core/serial-queue.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { type ScramCredentialImage, scramCredentialKey } from '../../metadata/metadata-image.ts'
import { SCRAM_MECHANISMS, scramPasswordMatches } from '../../network/login/scram.ts'

/** What a password was right for: the secret of the file, or a credential. Another one of the same user is another value. */
type Proof = string | ScramCredentialImage

/** Remembered logins, so that not each request of a client costs milliseconds. */
const REMEMBERED_MAX = 1000
/** Checks that may wait; they run one at a time, since they keep a thread of the file system busy. */
const WAITING_MAX = 100

export interface SecretSource {
  /** The users file; where there is one, nothing else counts. */
  readonly file: { secretOf(user: string): Promise<string | undefined> } | undefined
  readonly image: () => MetadataImage
}

export class Passwords {
  readonly #source: SecretSource
  readonly #checks = new SerialQueue()
  /** Digest of user and password, under a key of this process → what it was right for. */
  readonly #remembered = new Map<string, Proof>()
  readonly #key = randomBytes(32)

  constructor(source: SecretSource) {
    this.#source = source
  }

  /** Nobody else can be checked at the moment. */
  get isBusy(): boolean {
    return this.#checks.length >= WAITING_MAX
  }

  async matches(user: string, password: string): Promise<boolean> {
    const proofs = await this.#proofsOf(user)
    const digest = createHmac('sha256', this.#key)
      .update(JSON.stringify([user, password]))
      .digest('base64')
    const known = this.#remembered.get(digest)
    if (known !== undefined && proofs.includes(known)) return true
    const found = await this.#checks.run(() => firstMatch(proofs, password))
    if (found === undefined) return false
    this.#remember(digest, found)
    return true
  }

  async #proofsOf(user: string): Promise<readonly Proof[]> {
    const { file, image } = this.#source
    if (file) {
      const secret = await file.secretOf(user)
      return secret === undefined ? [] : [secret]
    }
    const { scramCredentials } = image()
    return SCRAM_MECHANISMS.flatMap((_, index) => scramCredentials.get(scramCredentialKey(user, index + 1)) ?? [])
  }

  #remember(digest: string, proof: Proof): void {
    this.#remembered.set(digest, proof)
    const [oldest] = this.#remembered.keys()
    if (this.#remembered.size > REMEMBERED_MAX && oldest !== undefined) this.#remembered.delete(oldest)
  }
}

/** A user that does not exist takes as long as one with the usual credential. */
const NOBODY: ScramCredentialImage = {
  user: '',
  mechanism: 1,
  salt: randomBytes(24),
  storedKey: randomBytes(32),
  serverKey: randomBytes(32),
  iterations: 4096,
}

async function firstMatch(proofs: readonly Proof[], password: string): Promise<Proof | undefined> {
  for (const proof of proofs.length > 0 ? proofs : [NOBODY])
    if ((await proves(proof, password)) && proof !== NOBODY) return proof
  return undefined
}

async function proves(proof: Proof, password: string): Promise<boolean> {
  if (typeof proof !== 'string') {
    const mechanism = SCRAM_MECHANISMS[proof.mechanism - 1]
    return mechanism !== undefined && (await scramPasswordMatches(mechanism, proof, password))
  }
  return isPasswordHash(proof) ? await passwordMatches(proof, password) : isSameText(proof, password)
}

function isSameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
