/** Chooses the version of a Fetch request; the fetch slots and the leader questions call it. */
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import { SourceError } from '../../link/ports.ts'
import type { BrokerConnection } from '../../network/broker-connection.ts'
import { FetchApi } from '../../protocol/messages/01-fetch.ts'

/** Last version that names topics; from 13 on they are identified (KIP-516). */
const NAMED_MAX = 12

/** The newest version that both sides have; one that names topics if any of them has no id. Throws SourceError. */
export function fetchVersionFor(connection: BrokerConnection, topicIds: readonly Uuid[]): number {
  const max = topicIds.includes(ZERO_UUID) ? NAMED_MAX : Number.POSITIVE_INFINITY
  const version = connection.versionFor(FetchApi.key, { min: 4, max })
  if (version !== undefined) return version
  const where = `${connection.host}:${connection.port}`
  throw new SourceError('unsupported-version', `${where} serves no version of Fetch that we can use`)
}
