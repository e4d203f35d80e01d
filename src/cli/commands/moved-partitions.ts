/** The rows of partitions that are moved between Lockstep nodes; `mirror move` and `node drain` print them. */
import type { MovedPartition } from '../../rest/schemas/placement.ts'
import type { CommandContext } from '../context.ts'
import { PartlyFailed } from '../failure.ts'
import { type Column, printRows } from '../output.ts'
import { counted } from '../words.ts'

const COLUMNS: readonly Column<MovedPartition>[] = [
  { heading: 'Topic', key: 'topic_name', value: row => row.topic_name },
  { heading: 'Partition', key: 'partition_id', value: row => row.partition_id },
  { heading: 'Replicas', key: 'replicas', value: row => row.replicas, text: row => row.replicas.join(', ') },
  {
    heading: 'Becomes',
    key: 'target_replicas',
    value: row => row.target_replicas,
    text: row => row.target_replicas.join(', '),
  },
  {
    heading: 'Leads',
    key: 'copies',
    value: row => row.copies,
    text: row => (row.copies ? 'when it has caught up' : 'at once'),
  },
  { heading: 'Error', key: 'error_message', value: row => row.error_message, optional: true },
]

/** Throws PartlyFailed if the controller refused some of them, an Error if all. */
export function printMoved(context: CommandContext, rows: readonly MovedPartition[], empty: string): void {
  printRows(context, rows, { columns: COLUMNS, empty })
  const refused = rows.filter(row => row.error_message !== null)
  if (refused.length === 0) return
  const text = `${counted(refused.length, 'partition')} could not be moved: ${refused[0]?.error_message}`
  throw refused.length === rows.length ? new Error(text) : new PartlyFailed(text)
}
