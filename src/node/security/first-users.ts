/** The SCRAM users that a fresh node begins with (`lockstep.bootstrap.scram.users`), in the form of `kafka-storage format --add-scram`. */

import { scramCredentialRecord } from '../../controller/local/scram-credentials.ts'
import { ConfigValueError } from '../../core/config-rows.ts'
import {
  isScram,
  SCRAM_ITERATIONS_MAX,
  SCRAM_ITERATIONS_MIN,
  SCRAM_MECHANISMS,
  type ScramMechanism,
  scramCredential,
} from '../../network/login/scram.ts'
import type { MetadataRecordInput } from '../../protocol/metadata-records/registry.ts'

export interface FirstUser {
  readonly mechanism: ScramMechanism
  readonly name: string
  readonly password: string
  readonly iterations: number
}

const USER = /\s*([A-Z0-9-]+)=\[((?:"[^"]*"|[^\]"])*)\]\s*(?:;|$)/y
const FIELD = /\s*([a-z]+)=(?:"([^"]*)"|([^,"]*))\s*(?:,|$)/y

/** `SCRAM-SHA-512=[name=admin,password=secret,iterations=8192];...`. Throws ConfigValueError, without repeating the text. */
export function parseFirstUsers(text: string): FirstUser[] {
  return matches(USER, text).map(([, mechanism = '', fields = '']) => {
    if (!isScram(mechanism)) throw new ConfigValueError(`must name one of ${SCRAM_MECHANISMS.join(', ')}`)
    const values = new Map(matches(FIELD, fields).map(([, key = '', quoted, plain = '']) => [key, quoted ?? plain]))
    const { name, password } = { name: values.get('name'), password: values.get('password') }
    const iterations = Number(values.get('iterations') ?? SCRAM_ITERATIONS_MIN)
    if (!name || !password) throw new ConfigValueError('needs name and password for each user')
    if (!(iterations >= SCRAM_ITERATIONS_MIN && iterations <= SCRAM_ITERATIONS_MAX))
      throw new ConfigValueError(`has iterations outside ${SCRAM_ITERATIONS_MIN} to ${SCRAM_ITERATIONS_MAX}`)
    return { mechanism, name, password, iterations }
  })
}

function matches(pattern: RegExp, text: string): RegExpExecArray[] {
  const found: RegExpExecArray[] = []
  pattern.lastIndex = 0
  for (let end = 0; end < text.length; end = pattern.lastIndex) {
    const next = pattern.exec(text)
    if (!next) throw new ConfigValueError('must look like SCRAM-SHA-512=[name=admin,password=secret]')
    found.push(next)
  }
  return found
}

/** The metadata records of these users. */
export const firstUserRecords = (users: readonly FirstUser[]): Promise<MetadataRecordInput[]> =>
  Promise.all(
    users.map(async ({ mechanism, name, password, iterations }) =>
      scramCredentialRecord(
        name,
        SCRAM_MECHANISMS.indexOf(mechanism) + 1,
        await scramCredential(mechanism, password, { iterations }),
      ),
    ),
  )
