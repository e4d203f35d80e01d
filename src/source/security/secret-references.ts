/** `${file:PATH:KEY}`, `${file:PATH}` and `${env:NAME}` in link properties, looked up at every connect; source security uses it. */
import { readFile } from 'node:fs/promises'
import { parse } from 'dot-properties'
import { messageOf } from '../../core/errors.ts'

/** A reference leads nowhere. Holds no secret. */
export class SecretReferenceError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SecretReferenceError'
  }
}

const REFERENCE = /\$\{(file|env):([^}:]+)(?::([^}]*))?\}/g
const FILE_BYTES_MAX = 1024 * 1024

/** Text with every reference replaced. Rejects with SecretReferenceError. */
export async function withoutReferences(
  text: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<string> {
  const found = [...text.matchAll(REFERENCE)]
  const values = await Promise.all(
    found.map(([whole, provider, place = '', key]) =>
      provider === 'env' ? fromEnvironment(environment, place) : fromFile(place, key, whole),
    ),
  )
  let index = 0
  return text.replace(REFERENCE, () => values[index++] ?? '')
}

function fromEnvironment(environment: Readonly<Record<string, string | undefined>>, name: string): string {
  const value = environment[name]
  if (value === undefined) throw new SecretReferenceError(`the environment has no ${name}`)
  return value
}

/** A line of a properties file, or all of a file that holds nothing else. */
async function fromFile(path: string, key: string | undefined, reference: string): Promise<string> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new SecretReferenceError(`${reference}: ${messageOf(error)}`)
  }
  if (text.length > FILE_BYTES_MAX) throw new SecretReferenceError(`${reference}: the file is too large`)
  if (key === undefined) return text.trimEnd()
  const value = parse(text)[key]
  if (value === undefined) throw new SecretReferenceError(`${reference}: the file has no ${key}`)
  return String(value).trim()
}
