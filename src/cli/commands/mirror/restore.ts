/** `lockstep mirror truncate-and-restore` */
import { mirrorVerbFacts } from '../../../rest/schemas/mirror-verbs.ts'
import type { CommandAction } from '../../command-row.ts'
import type { CommandContext } from '../../context.ts'
import { type Column, printRows } from '../../output.ts'
import { counted } from '../../words.ts'
import { alterMirrors, type StopOptions } from './alter.ts'
import { type AlterRow, isRefused } from './ask-verb.ts'
import type { EndState } from './wait.ts'

interface Options extends StopOptions {
  readonly includePartitions?: boolean
  readonly paused?: boolean
  readonly exportDivergent?: boolean
}

interface Row {
  readonly topic: string
  readonly partition: number
  readonly errorMessage: string
  readonly errorCode: string
  readonly truncated: number | null
  readonly truncatedTo: string
}

const TOPIC: Column<Row> = { heading: 'Mirror Topic Name', key: 'mirror_topic_name', value: row => row.topic }
const PARTITION: Column<Row> = { heading: 'Partition', key: 'partition', value: row => row.partition }
const REST: readonly Column<Row>[] = [
  { heading: 'Error Message', key: 'error_message', value: row => row.errorMessage },
  { heading: 'Error Code', key: 'error_code', value: row => row.errorCode },
  { heading: 'Messages Truncated', key: 'messages_truncated', value: row => row.truncated },
]
const CUT: Column<Row> = { heading: 'Offset Truncated To', key: 'offset_truncated_to', value: row => row.truncatedTo }

export const truncateAndRestore: CommandAction<Options> = (context, topics, options) => {
  const { link, includePartitions, paused, exportDivergent } = options
  return alterMirrors(
    context,
    {
      verb: 'truncate-and-restore',
      topics,
      options,
      query: { include_partition_level_truncation_data: includePartitions ? 'true' : undefined },
      body: { paused, export_divergent: exportDivergent },
    },
    {
      question: dry =>
        [
          `Restoring ${counted(dry.length, 'topic')} as mirrors of link "${link}":`,
          `${counted(
            dry.reduce((sum, row) => sum + (row.messages_truncated ?? 0), 0),
            'record',
          )} that the other cluster`,
          `does not have will be cut off here${exportDivergent ? ', after they are exported' : ' for good'}. Continue?`,
        ].join(' '),
      force: options.force,
      wait: options.wait === undefined ? undefined : { end: endOf(paused), time: options.wait },
      print: includePartitions ? printPartitions : printTopics,
    },
  )
}

/** As it was asked for; the link or its source may be in trouble by then. */
function endOf(paused = false): EndState {
  const { reached } = mirrorVerbFacts['truncate-and-restore']
  return {
    reached: reached.filter(status => (status === 'PAUSED') === paused),
    givenUp: ['STOPPED', 'PENDING_MIRROR'],
  }
}

function printTopics(context: CommandContext, rows: readonly AlterRow[]): void {
  printRows(
    context,
    rows.map(row => ({ ...sharedOf(row), partition: -1, truncatedTo: '', truncated: row.messages_truncated })),
    { columns: [TOPIC, ...REST], empty: 'No topic matched.' },
  )
}

function printPartitions(context: CommandContext, answer: readonly AlterRow[]): void {
  const rows = answer.flatMap((row): Row[] =>
    isRefused(row)
      ? [{ ...sharedOf(row), partition: -1, truncated: -1, truncatedTo: '' }]
      : row.partition_level_truncation_data.map(part => ({
          ...sharedOf(row),
          partition: part.partition_id,
          truncated: part.messages_truncated,
          truncatedTo: part.offset_truncated_to < 0 ? '' : String(part.offset_truncated_to),
        })),
  )
  printRows(context, rows, { columns: [TOPIC, PARTITION, ...REST, CUT], empty: 'No topic matched.' })
}

const sharedOf = (row: AlterRow) => ({
  topic: row.mirror_topic_name,
  errorMessage: row.error_message ?? '',
  errorCode: isRefused(row) ? String(row.error_code) : '',
})
