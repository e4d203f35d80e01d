/** `lockstep node placement` */
import type { PlacementData } from '../../../rest/schemas/placement.ts'
import type { CommandAction } from '../../command-row.ts'
import { type Column, printRows } from '../../output.ts'
import { dateText } from '../../words.ts'

/** Both kinds in one table. */
interface Row {
  readonly topic: string
  readonly partition: number
  readonly condition: string
  readonly replicas: readonly number[]
  readonly leader: number
  readonly sinceMs: number
  readonly reason: string | null
}

const COLUMNS: readonly Column<Row>[] = [
  { heading: 'Topic', key: 'topic_name', value: row => row.topic },
  { heading: 'Partition', key: 'partition_id', value: row => row.partition },
  { heading: 'Condition', key: 'condition', value: row => row.condition },
  { heading: 'Replicas', key: 'replicas', value: row => row.replicas, text: row => row.replicas.join(', ') },
  { heading: 'Leader', key: 'leader', value: row => row.leader },
  { heading: 'Since', key: 'since_ms', value: row => row.sinceMs, text: row => dateText(row.sinceMs) },
  { heading: 'Reason', key: 'reason', value: row => row.reason, optional: true },
]

export const showPlacement: CommandAction = async context => {
  const { foreign_partitions: foreign, misplaced_partitions: misplaced } =
    await context.rest.get<PlacementData>('/placement')
  const rows: Row[] = [
    ...misplaced.map(row => ({ ...shared(row), condition: row.condition, reason: row.reason })),
    ...foreign.map(row => ({ ...shared(row), condition: `FOREIGN (${row.state})`, reason: row.error_message })),
  ]
  printRows(context, rows, { columns: COLUMNS, empty: 'Everything is where it belongs.' })
}

const shared = (row: {
  readonly topic_name: string
  readonly partition_id: number
  readonly replicas: readonly number[]
  readonly leader: number
  readonly since_ms: number
}) => ({
  topic: row.topic_name,
  partition: row.partition_id,
  replicas: row.replicas,
  leader: row.leader,
  sinceMs: row.since_ms,
})
