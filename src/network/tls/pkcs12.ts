/** Reads the certificates of a PKCS#12 trust store, which Node itself only reads together with a private key; TLS material uses it. */
import { createDecipheriv, pbkdf2Sync } from 'node:crypto'
import { DerTag, type DerValue, derContent, derContents, derOid, derValue } from './der.ts'

/** The file is no PKCS#12, its password is wrong, or it uses ciphers that are not supported any more. */
export class KeyStoreError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'KeyStoreError'
  }
}

const Oid = {
  DATA: '1.2.840.113549.1.7.1',
  ENCRYPTED_DATA: '1.2.840.113549.1.7.6',
  CERTIFICATE_BAG: '1.2.840.113549.1.12.10.1.3',
  PBES2: '1.2.840.113549.1.5.13',
  PBKDF2: '1.2.840.113549.1.5.12',
} as const

const HASHES: Readonly<Record<string, string>> = {
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.8': 'sha224',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
}

const CIPHERS: Readonly<Record<string, { readonly name: string; readonly keyBytes: number }>> = {
  '2.16.840.1.101.3.4.1.2': { name: 'aes-128-cbc', keyBytes: 16 },
  '2.16.840.1.101.3.4.1.22': { name: 'aes-192-cbc', keyBytes: 24 },
  '2.16.840.1.101.3.4.1.42': { name: 'aes-256-cbc', keyBytes: 32 },
}

/** A hostile file must not keep us busy. */
const ITERATIONS_MAX = 5_000_000

const CONTEXT_0 = 0xa0
const IMPLICIT_0 = 0x80

/** The certificates, DER. Throws KeyStoreError. */
export function pkcs12Certificates(file: Buffer, password: string): Buffer[] {
  try {
    const [, authenticatedSafe] = derContents(derValue(file), DerTag.SEQUENCE)
    const safe = derValue(dataOf(authenticatedSafe))
    return derContents(safe, DerTag.SEQUENCE).flatMap(part => certificatesOf(contentsOf(part, password)))
  } catch (error) {
    if (error instanceof KeyStoreError) throw error
    throw new KeyStoreError('is not a PKCS12 store that can be read, or its password is wrong', { cause: error })
  }
}

/** The bytes of a ContentInfo of type data. */
function dataOf(info: DerValue | undefined): Buffer {
  const [type, explicit] = derContents(info, DerTag.SEQUENCE)
  if (derOid(type) !== Oid.DATA) throw new KeyStoreError('is protected by a public key, not by a password')
  return derContent(derContents(explicit, CONTEXT_0)[0], DerTag.OCTET_STRING)
}

function contentsOf(info: DerValue, password: string): Buffer {
  const [type, explicit] = derContents(info, DerTag.SEQUENCE)
  if (derOid(type) !== Oid.ENCRYPTED_DATA) return dataOf(info)
  const [, encrypted] = derContents(derContents(explicit, CONTEXT_0)[0], DerTag.SEQUENCE)
  const [, algorithm, content] = derContents(encrypted, DerTag.SEQUENCE)
  return decrypted(algorithm, { bytes: derContent(content, IMPLICIT_0), password })
}

function decrypted(algorithm: DerValue | undefined, { bytes, password }: { bytes: Buffer; password: string }): Buffer {
  const [type, parameters] = derContents(algorithm, DerTag.SEQUENCE)
  if (derOid(type) !== Oid.PBES2) throw outdated(derOid(type))
  const [derivation, encryption] = derContents(parameters, DerTag.SEQUENCE)
  const [derivationType, derivationParameters] = derContents(derivation, DerTag.SEQUENCE)
  if (derOid(derivationType) !== Oid.PBKDF2) throw outdated(derOid(derivationType))
  const [salt, count, ...rest] = derContents(derivationParameters, DerTag.SEQUENCE)
  const iterations = Number.parseInt(derContent(count, DerTag.INTEGER).toString('hex'), 16)
  if (!(iterations > 0 && iterations <= ITERATIONS_MAX)) throw new KeyStoreError(`asks for ${iterations} iterations`)
  const prf = rest.find(value => value.tag === DerTag.SEQUENCE)
  const hash = prf === undefined ? 'sha1' : HASHES[derOid(derContents(prf, DerTag.SEQUENCE)[0])]
  const [cipherType, vector] = derContents(encryption, DerTag.SEQUENCE)
  const cipher = CIPHERS[derOid(cipherType)]
  if (hash === undefined || cipher === undefined) throw outdated(derOid(cipherType))
  const key = pbkdf2Sync(password, derContent(salt, DerTag.OCTET_STRING), iterations, cipher.keyBytes, hash)
  const decipher = createDecipheriv(cipher.name, key, derContent(vector, DerTag.OCTET_STRING))
  return Buffer.concat([decipher.update(bytes), decipher.final()])
}

const outdated = (oid: string): KeyStoreError =>
  new KeyStoreError(
    `is encrypted with ${oid}, which OpenSSL 3 has no more; write it anew with keytool -importkeystore of a current JDK`,
  )

function certificatesOf(contents: Buffer): Buffer[] {
  return derContents(derValue(contents), DerTag.SEQUENCE).flatMap(bag => {
    const [type, explicit] = derContents(bag, DerTag.SEQUENCE)
    if (derOid(type) !== Oid.CERTIFICATE_BAG) return []
    const [, value] = derContents(derContents(explicit, CONTEXT_0)[0], DerTag.SEQUENCE)
    return [derContent(derContents(value, CONTEXT_0)[0], DerTag.OCTET_STRING)]
  })
}
