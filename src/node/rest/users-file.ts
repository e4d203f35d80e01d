/** The file of `rest.users`: a user and a password (or its hash) a line; read again when it changes. Asked by the logins of REST. */
import { readFile, stat } from 'node:fs/promises'
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { isPasswordHash, passwordHashProblem } from '../../core/password-hash.ts'

/** The file is looked at no more often. */
const LOOK_MS_MIN = 1000
const USERS_MAX = 10_000

/** Secrets by user. Throws RangeError with the number of the line that cannot be read, and nothing of what is in it. */
export function parseUsers(text: string): ReadonlyMap<string, string> {
  const users = new Map<string, string>()
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const at = line.indexOf(':')
    const user = line.slice(0, at).trim()
    const secret = line.slice(at + 1).trim()
    const problem = at < 0 || user === '' || secret === '' ? 'is not of the form user: password' : problemOf(secret)
    if (problem) throw new RangeError(`line ${index + 1} ${problem}`)
    if (users.has(user)) throw new RangeError(`line ${index + 1} names a user that an earlier line names`)
    users.set(user, secret)
  }
  if (users.size > USERS_MAX) throw new RangeError(`there are more than ${USERS_MAX} users`)
  return users
}

const problemOf = (secret: string): string | undefined =>
  isPasswordHash(secret) ? passwordHashProblem(secret) : undefined

export class UsersFile {
  readonly #path: string
  readonly #clock: Clock
  readonly #logger: Logger
  #users: ReadonlyMap<string, string>
  #stamp: string
  #lookedMs: number

  private constructor(path: string, read: { users: ReadonlyMap<string, string>; stamp: string }, to: Surroundings) {
    this.#path = path
    this.#users = read.users
    this.#stamp = read.stamp
    this.#clock = to.clock
    this.#logger = to.logger
    this.#lookedMs = to.clock.monotonicMs()
  }

  /** Rejects when the file cannot be read. */
  static async open(path: string, surroundings: Surroundings): Promise<UsersFile> {
    try {
      const stamp = await stampOf(path)
      return new UsersFile(path, { users: parseUsers(await readFile(path, 'utf8')), stamp }, surroundings)
    } catch (error) {
      throw new Error(`rest.users: ${path} cannot be used: ${messageOf(error)}`, { cause: error })
    }
  }

  /** The password or its hash; undefined = no such user. A file that has become unreadable leaves things as they were. */
  async secretOf(user: string): Promise<string | undefined> {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#lookedMs >= LOOK_MS_MIN) {
      this.#lookedMs = nowMs
      await this.#look()
    }
    return this.#users.get(user)
  }

  async #look(): Promise<void> {
    try {
      const stamp = await stampOf(this.#path)
      if (stamp === this.#stamp) return
      this.#stamp = stamp
      this.#users = parseUsers(await readFile(this.#path, 'utf8'))
      this.#logger.info('the users of REST were read anew', { users: this.#users.size })
    } catch (error) {
      this.#logger.error('the users of REST stay as they were', { file: this.#path, reason: messageOf(error) })
    }
  }
}

interface Surroundings {
  readonly clock: Clock
  readonly logger: Logger
}

async function stampOf(path: string): Promise<string> {
  const { mtimeMs, size, ino } = await stat(path)
  return `${mtimeMs} ${size} ${ino}`
}
