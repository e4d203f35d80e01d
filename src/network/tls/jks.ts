/** Reads Java's old key stores (JKS): trusted certificates, and private keys with their chains; TLS material uses it. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { DerTag, derContent, derContents, derOid, derValue } from './der.ts'
import { KeyStoreError } from './pkcs12.ts'

export interface JksEntries {
  /** Of trusted entries, DER. */
  readonly trusted: readonly Buffer[]
  readonly keys: readonly JksKey[]
}

export interface JksKey {
  readonly alias: string
  /** DER, the key's own certificate first. */
  readonly chain: readonly Buffer[]
  /** PKCS#8 DER. Throws KeyStoreError for a wrong password. */
  readonly open: (password: string) => Buffer
}

const MAGIC = 0xfeedfeed
const DIGEST_BYTES = 20
const KEY_ENTRY = 1
const KEY_PROTECTOR = '1.3.6.1.4.1.42.2.17.1.1'
/** The salt that Sun put before the digest of a store. */
const WHITENER = Buffer.from('Mighty Aphrodite')

export const isJks = (file: Buffer): boolean => file.length >= 4 && file.readUInt32BE(0) === MAGIC

/** Throws KeyStoreError: a damaged file, or a wrong password. */
export function readJks(file: Buffer, password: string): JksEntries {
  const data = file.subarray(0, Math.max(0, file.length - DIGEST_BYTES))
  const expected = createHash('sha1').update(bytesOf(password)).update(WHITENER).update(data).digest()
  const found = file.subarray(data.length)
  if (found.length !== DIGEST_BYTES || !timingSafeEqual(found, expected))
    throw new KeyStoreError('is a JKS store that was changed, or its password is wrong')
  try {
    return entriesOf(data)
  } catch (error) {
    throw new KeyStoreError('is a JKS store that cannot be read', { cause: error })
  }
}

const bytesOf = (password: string): Buffer => Buffer.from(password, 'utf16le').swap16()

function entriesOf(data: Buffer): JksEntries {
  let at = 4
  const bytes = (length: number): Buffer => {
    if (length < 0 || at + length > data.length) throw new RangeError('an entry beyond the end')
    at += length
    return data.subarray(at - length, at)
  }
  const int = (): number => bytes(4).readInt32BE(0)
  const text = (): string => bytes(bytes(2).readUInt16BE(0)).toString()
  const version = int()
  const certificate = (): Buffer => {
    if (version === 2) text()
    return bytes(int())
  }
  const trusted: Buffer[] = []
  const keys: JksKey[] = []
  for (let left = int(); left > 0; left--) {
    const kind = int()
    const alias = text()
    bytes(8)
    if (kind === KEY_ENTRY) {
      const sealed = bytes(int())
      const chain: Buffer[] = []
      for (let count = int(); count > 0; count--) chain.push(certificate())
      keys.push({ alias, chain, open: password => openKey(sealed, password) })
    } else trusted.push(certificate())
  }
  return { trusted, keys }
}

/** The key is hidden by a stream of digests of the password; the last 20 bytes say whether it was the right one. */
function openKey(sealed: Buffer, password: string): Buffer {
  const [algorithm, content] = derContents(derValue(sealed), DerTag.SEQUENCE)
  if (derOid(derContents(algorithm, DerTag.SEQUENCE)[0]) !== KEY_PROTECTOR)
    throw new KeyStoreError('holds a key that is hidden in another way')
  const bytes = derContent(content, DerTag.OCTET_STRING)
  const secret = bytesOf(password)
  const hidden = bytes.subarray(DIGEST_BYTES, bytes.length - DIGEST_BYTES)
  const key = Buffer.alloc(hidden.length)
  let digest = bytes.subarray(0, DIGEST_BYTES)
  for (let at = 0; at < hidden.length; at += DIGEST_BYTES) {
    digest = createHash('sha1').update(secret).update(digest).digest()
    for (let i = 0; i < DIGEST_BYTES && at + i < hidden.length; i++)
      key[at + i] = (hidden[at + i] ?? 0) ^ (digest[i] ?? 0)
  }
  const check = createHash('sha1').update(secret).update(key).digest()
  const expected = bytes.subarray(bytes.length - DIGEST_BYTES)
  if (expected.length !== DIGEST_BYTES || !timingSafeEqual(check, expected))
    throw new KeyStoreError('holds a key with another password (ssl.key.password)')
  return key
}
