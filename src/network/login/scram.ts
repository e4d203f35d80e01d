/** The arithmetic and the messages of SCRAM (RFC 5802, 7677) as Kafka speaks it; both ends of a login, the controller's credentials and REST logins use it. */
import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

export type ScramMechanism = 'SCRAM-SHA-256' | 'SCRAM-SHA-512'

export const SCRAM_MECHANISMS: readonly ScramMechanism[] = ['SCRAM-SHA-256', 'SCRAM-SHA-512']

export const isScram = (mechanism: string): mechanism is ScramMechanism =>
  SCRAM_MECHANISMS.some(known => known === mechanism)

/** Bounds of iterations, as Kafka has them for both mechanisms. */
export const SCRAM_ITERATIONS_MIN = 4096
export const SCRAM_ITERATIONS_MAX = 16_384

/** What a server keeps instead of a password. */
export interface ScramCredential {
  readonly salt: Buffer
  readonly storedKey: Buffer
  readonly serverKey: Buffer
  readonly iterations: number
}

const hashOf = (mechanism: ScramMechanism): 'sha256' | 'sha512' => (mechanism === 'SCRAM-SHA-256' ? 'sha256' : 'sha512')

export const scramHashBytes = (mechanism: ScramMechanism): number => (mechanism === 'SCRAM-SHA-256' ? 32 : 64)

const hash = (mechanism: ScramMechanism, data: Buffer): Buffer => createHash(hashOf(mechanism)).update(data).digest()

export const scramHmac = (mechanism: ScramMechanism, key: Buffer, text: string): Buffer =>
  createHmac(hashOf(mechanism), key).update(text).digest()

const derive = promisify(pbkdf2)

/** Hi() of the RFC. Passwords are taken as they are, without SASLprep, as Kafka does. */
export const saltedPassword = (
  mechanism: ScramMechanism,
  password: string,
  { salt, iterations }: Pick<ScramCredential, 'salt' | 'iterations'>,
): Promise<Buffer> => derive(Buffer.from(password), salt, iterations, scramHashBytes(mechanism), hashOf(mechanism))

/** Keys that follow from a salted password. */
export function scramKeys(mechanism: ScramMechanism, salted: Buffer) {
  const clientKey = scramHmac(mechanism, salted, 'Client Key')
  return {
    clientKey,
    storedKey: hash(mechanism, clientKey),
    serverKey: scramHmac(mechanism, salted, 'Server Key'),
  }
}

/** The credential of a new password. */
export async function scramCredential(
  mechanism: ScramMechanism,
  password: string,
  given: { readonly salt?: Buffer; readonly iterations?: number } = {},
): Promise<ScramCredential> {
  const shaping = { salt: given.salt ?? randomBytes(24), iterations: given.iterations ?? SCRAM_ITERATIONS_MIN }
  const { storedKey, serverKey } = scramKeys(mechanism, await saltedPassword(mechanism, password, shaping))
  return { ...shaping, storedKey, serverKey }
}

/** Is it the password of this credential? For logins that send the password itself (HTTP Basic). */
export async function scramPasswordMatches(
  mechanism: ScramMechanism,
  credential: ScramCredential,
  password: string,
): Promise<boolean> {
  const { storedKey } = scramKeys(mechanism, await saltedPassword(mechanism, password, credential))
  return timingSafeEqual(storedKey, credential.storedKey)
}

/** Proof of the client for this exchange. */
export function clientProof(mechanism: ScramMechanism, salted: Buffer, authMessage: string): Buffer {
  const { clientKey, storedKey } = scramKeys(mechanism, salted)
  return xor(clientKey, scramHmac(mechanism, storedKey, authMessage))
}

/** Does the proof come from somebody who knows the password? */
export function proofMatches(
  mechanism: ScramMechanism,
  storedKey: Buffer,
  { proof, authMessage }: { readonly proof: Buffer; readonly authMessage: string },
): boolean {
  if (proof.length !== storedKey.length) return false
  const clientKey = xor(proof, scramHmac(mechanism, storedKey, authMessage))
  return timingSafeEqual(hash(mechanism, clientKey), storedKey)
}

const xor = (a: Buffer, b: Buffer): Buffer => Buffer.from(a.map((byte, index) => byte ^ (b[index] ?? 0)))

/** A nonce of printable characters without a comma. */
export const scramNonce = (): string => randomBytes(18).toString('base64url')

/** A message of the other side does not have the form of the RFC. Holds nothing of the message. */
export class ScramMessageError extends Error {
  constructor(what: string) {
    super(`the ${what} message of SCRAM is malformed`)
    this.name = 'ScramMessageError'
  }
}

const SASL_NAME = String.raw`(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f\u0080-\u{10ffff}]|=2C|=3D)+`
const VALUE = String.raw`[\x01-\x2b\x2d-\x7f]+`
const NONCE = String.raw`[\x21-\x2b\x2d-\x7e]+`
const BASE64 = '(?:[a-zA-Z0-9/+]{4})*(?:[a-zA-Z0-9/+]{3}=|[a-zA-Z0-9/+]{2}==)?'
const EXTENSIONS = `(?:,[A-Za-z]+=${VALUE})*`

const CLIENT_FIRST = new RegExp(
  `^n,(?:a=(?<authorization>${SASL_NAME}))?,(?<bare>(?:m=${VALUE},)?n=(?<name>${SASL_NAME}),r=(?<nonce>${NONCE})(?<extensions>${EXTENSIONS}))$`,
  'u',
)
const SERVER_FIRST = new RegExp(
  `^(?:m=${VALUE},)?r=(?<nonce>${NONCE}),s=(?<salt>${BASE64}),i=(?<iterations>[0-9]{1,9})${EXTENSIONS}$`,
)
const CLIENT_FINAL = new RegExp(
  `^(?<withoutProof>c=(?<binding>${BASE64}),r=(?<nonce>${NONCE})${EXTENSIONS}),p=(?<proof>${BASE64})$`,
)
const SERVER_FINAL = new RegExp(`^(?:e=(?<error>${VALUE})|v=(?<signature>${BASE64}))${EXTENSIONS}$`)

function groupsOf(pattern: RegExp, message: Buffer, what: string): Readonly<Record<string, string | undefined>> {
  const groups = pattern.exec(message.toString())?.groups
  if (!groups) throw new ScramMessageError(what)
  return groups
}

const decode64 = (text: string | undefined): Buffer => Buffer.from(text ?? '', 'base64')

/** `,` and `=` of user names are written as =2C and =3D. */
export const saslName = (user: string): string => user.replaceAll('=', '=3D').replaceAll(',', '=2C')

const userOf = (name: string): string => name.replaceAll('=2C', ',').replaceAll('=3D', '=')

/** The first message of a client. Throws ScramMessageError. */
export function parseClientFirst(message: Buffer) {
  const { authorization, bare = '', name = '', nonce = '', extensions = '' } = groupsOf(CLIENT_FIRST, message, 'first')
  const authorizationId = authorization === undefined ? '' : userOf(authorization)
  return { user: userOf(name), nonce, bare, authorizationId, byToken: /,tokenauth=true\b/i.test(extensions) }
}

export function parseServerFirst(message: Buffer) {
  const { nonce = '', salt, iterations } = groupsOf(SERVER_FIRST, message, "server's first")
  return { nonce, salt: decode64(salt), iterations: Number(iterations) }
}

export function parseClientFinal(message: Buffer) {
  const { binding, nonce = '', proof, withoutProof = '' } = groupsOf(CLIENT_FINAL, message, 'final')
  return { binding: decode64(binding).toString(), nonce, proof: decode64(proof), withoutProof }
}

/** The end of the exchange: an error, or the signature by which the server proves that it knows the credential. */
export function parseServerFinal(message: Buffer) {
  const { error, signature } = groupsOf(SERVER_FINAL, message, "server's final")
  return { error, signature: decode64(signature) }
}
