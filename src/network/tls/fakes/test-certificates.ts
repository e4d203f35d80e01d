/** Certificates for tests, made here: an authority, and what it signs for hosts and clients. Unit tests and the security suite use it. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

/** A key with its certificate, PEM. */
export interface TestIdentity {
  readonly certificate: string
  readonly key: string
  readonly privateKey: KeyObject
  readonly subject: Buffer
}

export interface CertificateRequest {
  /** From the least specific part of the name to the most, e.g. `[['O', 'org'], ['CN', 'client']]`. */
  readonly name: readonly (readonly [keyof typeof ATTRIBUTES, string])[]
  /** Signs it; absent = it signs itself. */
  readonly issuer?: TestIdentity
  readonly isAuthority?: boolean
  /** Host names and IPv4 addresses that it is for. */
  readonly hosts?: readonly string[]
  /** Valid until so many days from now; negative = expired. */
  readonly days?: number
}

const ATTRIBUTES = {
  CN: '2.5.4.3',
  C: '2.5.4.6',
  L: '2.5.4.7',
  ST: '2.5.4.8',
  O: '2.5.4.10',
  OU: '2.5.4.11',
  UID: '0.9.2342.19200300.100.1.1',
  EMAIL: '1.2.840.113549.1.9.1',
} as const

const DAY_MS = 86_400_000

const der = (tag: number, ...contents: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(contents)
  const size = content.length
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}

const sequence = (...contents: readonly Buffer[]): Buffer => der(0x30, ...contents)

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  const bytes = [first * 40 + second, ...rest].flatMap(number => {
    const digits = [number & 0x7f]
    for (let left = number >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80)
    return digits
  })
  return der(6, Buffer.from(bytes))
}

/** The name as DER; UTF-8 strings. */
export const nameOf = (name: CertificateRequest['name']): Buffer =>
  sequence(...name.map(([type, value]) => der(0x31, sequence(oid(ATTRIBUTES[type]), der(0x0c, Buffer.from(value))))))

const time = (ms: number): Buffer =>
  der(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]|\.\d+Z/g, '')}Z`))

const extension = (id: string, critical: boolean, value: Buffer): Buffer =>
  sequence(oid(id), ...(critical ? [der(1, Buffer.from([0xff]))] : []), der(4, value))

function extensions({ isAuthority = false, hosts = [] }: CertificateRequest): Buffer {
  const names = hosts.map(host =>
    isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host)),
  )
  const all = [extension('2.5.29.19', true, sequence(...(isAuthority ? [der(1, Buffer.from([0xff]))] : [])))]
  if (names.length > 0) all.push(extension('2.5.29.17', false, sequence(...names)))
  return der(0xa3, sequence(...all))
}

const pem = (bytes: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${bytes
    .toString('base64')
    .match(/.{1,64}/g)
    ?.join('\n')}\n-----END CERTIFICATE-----\n`

/** Makes a key (P-256) and its certificate. */
export function makeCertificate(request: CertificateRequest): TestIdentity {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subject = nameOf(request.name)
  const { issuer = { subject, privateKey }, days = 30 } = request
  const algorithm = sequence(oid('1.2.840.10045.4.3.2'))
  const from = Date.now() + Math.min(0, days * DAY_MS) - DAY_MS
  const signed = sequence(
    der(0xa0, der(2, Buffer.from([2]))),
    der(2, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    issuer.subject,
    sequence(time(from), time(Date.now() + days * DAY_MS)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions(request),
  )
  const signature = der(3, Buffer.from([0]), sign('sha256', signed, issuer.privateKey))
  return {
    certificate: pem(sequence(signed, algorithm, signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    privateKey,
    subject,
  }
}

/** The private key encrypted with a password, PEM. */
export const encryptedKey = ({ privateKey }: TestIdentity, passphrase: string): string =>
  privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase }).toString()

/** An authority with a host and a client that it vouches for. */
export function makeAuthority(hosts: readonly string[] = ['localhost', '127.0.0.1']) {
  const authority = makeCertificate({
    name: [
      ['O', 'Test'],
      ['CN', `authority ${randomBytes(4).toString('hex')}`],
    ],
    isAuthority: true,
  })
  const issue = (request: Omit<CertificateRequest, 'issuer'>) => makeCertificate({ ...request, issuer: authority })
  return { authority, issue, host: issue({ name: [['CN', 'broker']], hosts }) }
}
