/** Keeps secrets of links with AES-256-GCM under the keys of `lockstep.secret.key.file`; made by the composition root. */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../core/errors.ts'
import { type SecretBox, SecretBoxError, sealedParts, sealedText } from '../link/ports.ts'

const KEY_BYTES = 32
const VECTOR_BYTES = 12
const TAG_BYTES = 16
const DEFAULT_NAME = 'lockstep-secret.key'

interface SecretKey {
  readonly id: string
  readonly bytes: Buffer
}

/** The first key seals, each opens what it sealed: a new key goes in front of the old ones. */
export class SecretKeyBox implements SecretBox {
  readonly #keys: readonly [SecretKey, ...SecretKey[]]

  constructor(keys: readonly [Buffer, ...Buffer[]]) {
    const [first, ...rest] = keys
    this.#keys = [keyOf(first), ...rest.map(keyOf)]
  }

  get keyId(): string {
    return this.#keys[0].id
  }

  knows(keyId: string): boolean {
    return this.#keys.some(({ id }) => id === keyId)
  }

  /** Keys for another purpose, that tell nothing about those that seal; of each key one, in their order. */
  derivedKeys(purpose: string): readonly [Buffer, ...Buffer[]] {
    const [first, ...others] = this.#keys
    const derived = ({ bytes }: SecretKey) => createHmac('sha256', bytes).update(purpose).digest()
    return [derived(first), ...others.map(derived)]
  }

  seal(property: string, text: string): string {
    const [key] = this.#keys
    const vector = randomBytes(VECTOR_BYTES)
    const cipher = createCipheriv('aes-256-gcm', key.bytes, vector).setAAD(Buffer.from(property))
    const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return sealedText(key.id, Buffer.concat([vector, cipher.getAuthTag(), content]).toString('base64url'))
  }

  open(property: string, sealed: string): string {
    const parts = sealedParts(sealed)
    const key = this.#keys.find(known => known.id === parts?.keyId)
    if (!parts || !key)
      throw new SecretBoxError(
        `${property} was encrypted with key ${parts?.keyId ?? 'of another kind'}, which this node does not have`,
      )
    const bytes = Buffer.from(parts.content, 'base64url')
    try {
      const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, VECTOR_BYTES))
        .setAAD(Buffer.from(property))
        .setAuthTag(bytes.subarray(VECTOR_BYTES, VECTOR_BYTES + TAG_BYTES))
      const content = bytes.subarray(VECTOR_BYTES + TAG_BYTES)
      return Buffer.concat([decipher.update(content), decipher.final()]).toString()
    } catch {
      throw new SecretBoxError(`${property} cannot be decrypted: it was changed, or is not that of this property`)
    }
  }
}

const keyOf = (bytes: Buffer): SecretKey => ({
  id: createHash('sha256').update('lockstep secret key').update(bytes).digest('hex').slice(0, 8),
  bytes,
})

/**
 * Reads the keys, one a line, base64 of 32 bytes. Without a configured file one in the data directory is used, and made when
 * it is not there; a configured one must be there. Rejects with what is wrong with it.
 */
export async function openSecretKeyBox(o: { file: string | undefined; directory: string }): Promise<SecretKeyBox> {
  const path = o.file ?? join(o.directory, DEFAULT_NAME)
  if (o.file === undefined) await createIfAbsent(path)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new Error(`lockstep.secret.key.file: ${messageOf(error)}`, { cause: error })
  }
  const [first, ...rest] = text.split('\n').flatMap(line => line.trim() || [])
  if (first === undefined) throw new Error(`lockstep.secret.key.file: ${path} is empty`)
  return new SecretKeyBox([parseKey(first, path), ...rest.map(line => parseKey(line, path))])
}

function parseKey(line: string, path: string): Buffer {
  const bytes = Buffer.from(line, 'base64')
  if (bytes.length !== KEY_BYTES)
    throw new Error(`lockstep.secret.key.file: a line of ${path} is not the base64 form of ${KEY_BYTES} bytes`)
  return bytes
}

async function createIfAbsent(path: string): Promise<void> {
  try {
    await writeFile(path, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
