/** Passwords as text that cannot be turned back: scrypt with its parameters and salt. The command line makes such text, the node's users file holds it. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/** Costs of new hashes: about 60 ms and 16 MiB. */
const COST = 16_384
const BLOCK_SIZE = 8
const PARALLEL = 1
const HASH_BYTES = 32
const SALT_BYTES = 16
const HASH_BYTES_MIN = 16
/** Bounds of what a file may ask of this process. */
const COST_MAX = 1 << 17
const MEMORY_BYTES_MAX = 256 << 20

const HASH = /^scrypt:(\d{1,6}):(\d{1,2}):(\d{1,2}):([A-Za-z0-9+/]+={0,2}):([A-Za-z0-9+/]+={0,2})$/

export const isPasswordHash = (text: string): boolean => text.startsWith('scrypt:')

/** `scrypt:cost:block:parallel:salt:hash`, the last two in base64. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await derived(password, {
    salt,
    cost: COST,
    blockSize: BLOCK_SIZE,
    parallel: PARALLEL,
    bytes: HASH_BYTES,
  })
  return ['scrypt', COST, BLOCK_SIZE, PARALLEL, salt.toString('base64'), hash.toString('base64')].join(':')
}

/** What is wrong with the text of a hash; undefined = nothing. */
export function passwordHashProblem(text: string): string | undefined {
  const [, cost, blockSize, parallel, , hash = ''] = HASH.exec(text) ?? []
  if (cost === undefined) return 'is not of the form scrypt:cost:block:parallel:salt:hash'
  const memory = 128 * Number(cost) * Number(blockSize)
  const isPower = Number(cost) > 1 && (Number(cost) & (Number(cost) - 1)) === 0
  if (!isPower || Number(cost) > COST_MAX || memory > MEMORY_BYTES_MAX || Number(parallel) < 1)
    return `asks for costs that are not accepted (cost up to ${COST_MAX}, a power of two)`
  // One that was cut off fits many passwords, and an empty one all of them.
  if (Buffer.from(hash, 'base64').length < HASH_BYTES_MIN) return `has a hash of less than ${HASH_BYTES_MIN} bytes`
  return undefined
}

/** Is it the password of a hash that has no problem? */
export async function passwordMatches(text: string, password: string): Promise<boolean> {
  const [, cost, blockSize, parallel, salt = '', hash = ''] = HASH.exec(text) ?? []
  if (cost === undefined || passwordHashProblem(text) !== undefined) return false
  const expected = Buffer.from(hash, 'base64')
  const costs = { cost: Number(cost), blockSize: Number(blockSize), parallel: Number(parallel) }
  const found = await derived(password, { ...costs, salt: Buffer.from(salt, 'base64'), bytes: expected.length })
  return timingSafeEqual(found, expected)
}

interface Shaping {
  readonly salt: Buffer
  readonly cost: number
  readonly blockSize: number
  readonly parallel: number
  readonly bytes: number
}

function derived(password: string, { salt, cost, blockSize, parallel, bytes }: Shaping): Promise<Buffer> {
  const options = { N: cost, r: blockSize, p: parallel, maxmem: MEMORY_BYTES_MAX + (1 << 20) }
  return new Promise((resolve, reject) =>
    scrypt(password, salt, bytes, options, (error, key) => (error ? reject(error) : resolve(key))),
  )
}
