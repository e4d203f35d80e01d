/** Port: how secrets of link properties are kept in the state topic; node/ implements it with a key of this node, source/ opens what it needs. */

export interface SecretBox {
  /** Encrypts the value of a property; the same text gives another result each time. */
  seal(property: string, text: string): string
  /** Of the key that seals. */
  readonly keyId: string
  /** Can be opened what was sealed with that key? */
  knows(keyId: string): boolean
  /** Throws SecretBoxError: another key, or not what was sealed for this property. */
  open(property: string, sealed: string): string
}

/** A sealed text cannot be opened. Holds nothing of it. */
export class SecretBoxError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SecretBoxError'
  }
}

const PREFIX = 'sealed:'

/** Was the text made by `seal`? */
export const isSealed = (text: string): boolean => text.startsWith(PREFIX)

/** `sealed:1:KEY:CONTENT` */
export const sealedText = (keyId: string, content: string): string => `${PREFIX}1:${keyId}:${content}`

/** The parts of a sealed text; undefined if it is of another version, or none. */
export function sealedParts(text: string): { readonly keyId: string; readonly content: string } | undefined {
  const found = /^sealed:1:([^:]+):([A-Za-z0-9_-]+)$/.exec(text)
  return found ? { keyId: found[1] ?? '', content: found[2] ?? '' } : undefined
}
