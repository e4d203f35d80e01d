/** From Kafka's `ssl.*` properties to what Node's TLS takes: keys, chains, trusted certificates, versions, ciphers. Listeners, links and REST use it. */
import { createPrivateKey } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContextOptions, type SecureVersion } from 'node:tls'
import { messageOf } from '../../core/errors.ts'
import { openSslCipher } from './cipher-suites.ts'
import { isJks, readJks } from './jks.ts'
import { isCertificate, isPrivateKey, type PemBlock, pemBlocks, pemCertificate } from './pem.ts'
import { KeyStoreError, pkcs12Certificates } from './pkcs12.ts'

/** The text of a property, or undefined if it is not set. */
export type PropertyLookup = (name: string) => string | undefined

/** A property or a file that TLS cannot be set up with. Holds no secret. */
export class TlsMaterialError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'TlsMaterialError'
  }
}

export interface TlsMaterial {
  readonly options: SecureContextOptions
  /** Where it was read from: a change of these files may change the material. */
  readonly files: readonly string[]
}

/** Reads everything anew. Rejects with TlsMaterialError; what resolves has been accepted by OpenSSL. */
export async function loadTlsMaterial(property: PropertyLookup, need: { readonly key: boolean }): Promise<TlsMaterial> {
  const files: string[] = []
  const read = async (name: string): Promise<Buffer | undefined> => {
    const path = property(name)
    if (path === undefined || path === '') return undefined
    files.push(path)
    try {
      return await readFile(path)
    } catch (error) {
      throw new TlsMaterialError(`${name}: ${messageOf(error)}`, { cause: error })
    }
  }
  const identity = await identityOf(property, read)
  if (need.key && identity === undefined)
    throw new TlsMaterialError(
      'ssl.keystore.location, or ssl.keystore.key and ssl.keystore.certificate.chain, is needed',
    )
  const ca = await trustedOf(property, read)
  const options = { ...identity, ...(ca ? { ca } : {}), ...versionsOf(property), ...ciphersOf(property) }
  try {
    createSecureContext(options)
  } catch (error) {
    throw new TlsMaterialError(`the key store or trust store is refused: ${explained(error)}`, { cause: error })
  }
  return { options, files }
}

type ReadFile = (name: string) => Promise<Buffer | undefined>

async function identityOf(property: PropertyLookup, read: ReadFile): Promise<SecureContextOptions | undefined> {
  const inlineKey = property('ssl.keystore.key')
  const inlineChain = property('ssl.keystore.certificate.chain')
  const keyPassword = property('ssl.key.password')
  if (inlineKey !== undefined || inlineChain !== undefined) {
    if (inlineKey === undefined || inlineChain === undefined)
      throw new TlsMaterialError('ssl.keystore.key and ssl.keystore.certificate.chain belong together')
    return pemIdentity([...pemBlocks(inlineKey), ...pemBlocks(inlineChain)], keyPassword, 'ssl.keystore.key')
  }
  const file = await read('ssl.keystore.location')
  if (file === undefined) return undefined
  const password = property('ssl.keystore.password')
  const format = formatOf(file, property('ssl.keystore.type'), 'ssl.keystore')
  if (format === 'JKS')
    return jksIdentity(file, { password: password ?? '', keyPassword: keyPassword ?? password ?? '' })
  if (format === 'PEM') return pemIdentity(pemBlocks(file.toString()), keyPassword ?? password, 'ssl.keystore.location')
  return { pfx: [{ buf: file, ...(password === undefined ? {} : { passphrase: password }) }] }
}

function pemIdentity(blocks: readonly PemBlock[], password: string | undefined, name: string): SecureContextOptions {
  const keys = blocks.filter(isPrivateKey)
  const chain = blocks.filter(isCertificate)
  if (keys.length !== 1) throw new TlsMaterialError(`${name} must hold one private key as PEM, not ${keys.length}`)
  if (chain.length === 0) throw new TlsMaterialError(`${name}: there is no certificate for the key`)
  const key = keys.map(({ text }) => ({ pem: text, ...(password === undefined ? {} : { passphrase: password }) }))
  return { key, cert: chain.map(({ text }) => text).join('') }
}

function jksIdentity(file: Buffer, o: { password: string; keyPassword: string }): SecureContextOptions {
  try {
    const { keys } = readJks(file, o.password)
    const [key, ...more] = keys
    if (!key || more.length > 0) throw new KeyStoreError(`must hold one key, not ${keys.length}`)
    const pkcs8 = createPrivateKey({ key: key.open(o.keyPassword), format: 'der', type: 'pkcs8' })
    return {
      key: pkcs8.export({ format: 'pem', type: 'pkcs8' }).toString(),
      cert: key.chain.map(pemCertificate).join(''),
    }
  } catch (error) {
    throw new TlsMaterialError(`ssl.keystore.location ${messageOf(error)}`, { cause: error })
  }
}

async function trustedOf(property: PropertyLookup, read: ReadFile): Promise<string[] | undefined> {
  const inline = property('ssl.truststore.certificates')
  if (inline !== undefined) return pemTrusted(inline, 'ssl.truststore.certificates')
  const file = await read('ssl.truststore.location')
  if (file === undefined) return undefined
  const format = formatOf(file, property('ssl.truststore.type'), 'ssl.truststore')
  if (format === 'PEM') return pemTrusted(file.toString(), 'ssl.truststore.location')
  try {
    const password = property('ssl.truststore.password') ?? ''
    const found = format === 'JKS' ? readJks(file, password).trusted : pkcs12Certificates(file, password)
    if (found.length === 0) throw new KeyStoreError('holds no certificate')
    return found.map(pemCertificate)
  } catch (error) {
    throw new TlsMaterialError(`ssl.truststore.location ${messageOf(error)}`, { cause: error })
  }
}

function pemTrusted(text: string, name: string): string[] {
  const found = pemBlocks(text).filter(isCertificate)
  if (found.length === 0) throw new TlsMaterialError(`${name} holds no certificate as PEM`)
  return found.map(block => block.text)
}

const JCEKS_MAGIC = 0xcececece

/** By content; Java reads PKCS12 under the name JKS too, which is the default of the type. */
function formatOf(file: Buffer, type: string | undefined, what: string): 'PEM' | 'PKCS12' | 'JKS' {
  const name = type?.trim().toUpperCase()
  if (name !== undefined && !['', 'JKS', 'PKCS12', 'PEM'].includes(name))
    throw new TlsMaterialError(`${what}.type ${name} is not supported: use PEM, PKCS12 or JKS`)
  if (isJks(file)) return 'JKS'
  if (file.length >= 4 && file.readUInt32BE(0) === JCEKS_MAGIC)
    throw new TlsMaterialError(
      `${what}.location is a JCEKS file; make it PKCS12: keytool -importkeystore -srckeystore FILE -srcstoretype JCEKS -destkeystore FILE.p12 -deststoretype PKCS12`,
    )
  if (file.includes('-----BEGIN ')) return 'PEM'
  if (name === 'PEM') throw new TlsMaterialError(`${what}.location holds no PEM`)
  return 'PKCS12'
}

const VERSIONS: readonly SecureVersion[] = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3']

function versionsOf(property: PropertyLookup): SecureContextOptions {
  const names = itemsOf(property('ssl.enabled.protocols') ?? 'TLSv1.2,TLSv1.3')
  const unknown = names.find(name => !VERSIONS.some(version => version === name))
  if (unknown !== undefined)
    throw new TlsMaterialError(`ssl.enabled.protocols may list ${VERSIONS.join(', ')}, not "${unknown}"`)
  const enabled = VERSIONS.filter(version => names.includes(version))
  const [minVersion] = enabled
  const maxVersion = enabled.at(-1)
  return minVersion && maxVersion ? { minVersion, maxVersion } : {}
}

function ciphersOf(property: PropertyLookup): SecureContextOptions {
  const suites = itemsOf(property('ssl.cipher.suites'))
  if (suites.length === 0) return {}
  const ciphers = suites.map(suite => {
    const name = openSslCipher(suite)
    if (name === undefined) throw new TlsMaterialError(`ssl.cipher.suites: "${suite}" is not known here`)
    return name
  })
  return { ciphers: ciphers.join(':') }
}

const itemsOf = (text: string | undefined): string[] => (text ?? '').split(',').flatMap(item => item.trim() || [])

/** OpenSSL's words for the usual mistakes. */
function explained(error: unknown): string {
  const text = messageOf(error)
  if (/mac verify failure|bad decrypt|bad password|maybe wrong password|interrupted or cancelled/i.test(text))
    return `the password is wrong or missing (${text})`
  if (/key values mismatch/i.test(text)) return `the certificate is not that of the key (${text})`
  return text
}
