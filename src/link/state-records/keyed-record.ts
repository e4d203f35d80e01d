/** What every topic of keyed records has in common: keys are read by every version, values as far as they can be. Used by the codecs of state and status. */
import { messageOf } from '../../core/errors.ts'
import type { StateRecord } from '../ports.ts'
import { decodeStateKey, type StateKey } from './state-key.ts'

/** What a record is where it is not one that was decoded. */
export type Undecoded =
  | { readonly kind: 'removed'; readonly key: StateKey }
  /** Of a newer version, or damaged. */
  | { readonly kind: 'unreadable'; readonly key: StateKey; readonly reason: string }
  /** Not even the key can be read. */
  | { readonly kind: 'garbage'; readonly reason: string }

/** Never throws: what cannot be read is reported with its key. `what`: how a record is called in reasons. */
export function decodeKeyed<T>(
  { key: keyBytes, value }: StateRecord,
  what: string,
  decodeValue: (key: StateKey, value: Buffer) => T,
): T | Undecoded {
  let key: StateKey
  try {
    key = decodeStateKey(keyBytes)
  } catch (error) {
    return { kind: 'garbage', reason: `a record key of ${keyBytes.length} bytes is unreadable: ${messageOf(error)}` }
  }
  if (value === null) return { kind: 'removed', key }
  try {
    return decodeValue(key, value)
  } catch (error) {
    return { kind: 'unreadable', key, reason: `its ${what} is unreadable: ${messageOf(error)}` }
  }
}

/** A value as it is stored: its version, then the body. */
export function versioned(version: number, body: Buffer): Buffer {
  const head = Buffer.alloc(2)
  head.writeInt16BE(version)
  return Buffer.concat([head, body])
}
