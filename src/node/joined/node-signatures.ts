/** Signatures of the nodes of a cluster, by the keys that all of them have: of requests to each other, and of proposals to the link coordinator. Made by the start of a joined node. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { openSecretKeyBox } from '../secret-key-box.ts'
import type { NodeSettings } from '../settings.ts'

export class NodeSignatures {
  /** The first signs, each is believed: while one is replaced nodes have at least one in common. */
  readonly #keys: readonly [Buffer, ...Buffer[]]

  constructor(keys: readonly [Buffer, ...Buffer[]]) {
    this.#keys = keys
  }

  sign(bytes: Buffer): Buffer {
    return signatureOf(this.#keys[0], bytes)
  }

  /** Has a node of this cluster signed that? */
  isGenuine(bytes: Buffer, signature: Buffer): boolean {
    return this.#keys.some(key => {
      const wanted = signatureOf(key, bytes)
      return signature.length === wanted.length && timingSafeEqual(signature, wanted)
    })
  }
}

const signatureOf = (key: Buffer, bytes: Buffer): Buffer => createHmac('sha256', key).update(bytes).digest()

/** For each purpose keys of its own. Rejects where the keys cannot be read. */
export async function nodeSignatures({
  secretKeyFile: file,
  dataDirectory: directory,
}: Pick<NodeSettings, 'secretKeyFile' | 'dataDirectory'>) {
  const secrets = await openSecretKeyBox({ file, directory })
  return {
    ofRequests: new NodeSignatures(secrets.derivedKeys('requests between nodes')),
    ofProposals: new NodeSignatures(secrets.derivedKeys('proposals to the link coordinator')),
  }
}
