/** The dispatch table of a joined node: the standalone one, with the controller, or the other brokers, in the place of what this node is not. Made by Broker. */
import { AlterConfigsApi } from '../../protocol/messages/33-alter-configs.ts'
import { CreatePartitionsApi } from '../../protocol/messages/37-create-partitions.ts'
import { IncrementalAlterConfigsApi } from '../../protocol/messages/44-incremental-alter-configs.ts'
import type { Handler, ServedApi } from '../handler.ts'
import { controllerRows, describeDelegationToken } from './controller-rows.ts'
import { coordinatorRows } from './coordinator-rows.ts'
import {
  forwardedAlterConfigs,
  forwardedCreatePartitions,
  forwardedIncrementalAlterConfigs,
} from './forwarded-alterations.ts'
import { forwarded } from './forwarded-handlers.ts'
import type { JoinedCluster } from './joined-cluster.ts'
import { shareAcknowledge } from './share-acknowledge.ts'
import { shareFetch } from './share-fetch.ts'

/** What brokers of Kafka pass on as it is. */
const FORWARDED: ReadonlySet<number> = new Set([19, 20, 30, 31, 43, 45, 46, 49, 51, 55, 57, 64, 80, 81])

/** In the order of their keys. */
export function joinedHandlers(standalone: readonly Handler[]): readonly Handler[] {
  const own = [...standalone.map(joinedRow), shareFetch, shareAcknowledge]
  const table = new Map(own.map(row => [row.key, row]))
  // Those that a standalone node has no handlers for.
  for (const row of [...coordinatorRows, ...controllerRows.map(forwarded), describeDelegationToken])
    if (!table.has(row.key)) table.set(row.key, row)
  return [...table.values()].sort((a, b) => a.key - b.key)
}

/** What is passed on but for what is judged here. */
const PARTLY_FORWARDED: ReadonlyMap<number, (row: Handler) => Handler> = new Map([
  [AlterConfigsApi.key, forwardedAlterConfigs],
  [CreatePartitionsApi.key, forwardedCreatePartitions],
  [IncrementalAlterConfigsApi.key, forwardedIncrementalAlterConfigs],
])

function joinedRow(row: Handler): Handler {
  const partly = PARTLY_FORWARDED.get(row.key)
  if (partly) return partly(row)
  return FORWARDED.has(row.key) ? forwarded(row) : row
}

const isForwarded = (key: number): boolean =>
  FORWARDED.has(key) || PARTLY_FORWARDED.has(key) || controllerRows.some(row => row.key === key)

/** What ApiVersions tells: of what is passed on no more than the active controller takes. */
export const announcedApis = (table: readonly Handler[], joined: JoinedCluster | undefined): readonly ServedApi[] =>
  table.flatMap(({ key, announced }) => {
    const theirs = isForwarded(key) ? joined?.controllerVersions(key) : undefined
    const range = theirs
      ? { min: Math.max(announced.min, theirs.min), max: Math.min(announced.max, theirs.max) }
      : announced
    return range.min <= range.max ? [{ key, ...range }] : []
  })
