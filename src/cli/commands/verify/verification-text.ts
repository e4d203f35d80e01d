/** What is printed of a verification: its progress, a row for each partition, a verdict. */
import type { VerificationData } from '../../../rest/schemas/verification.ts'
import type { CommandContext } from '../../context.ts'
import { type Column, printData, printRows } from '../../output.ts'
import { byteText, counted, grouped } from '../../words.ts'

type Topic = VerificationData['topics'][number]
type Part = Topic['partitions'][number]

interface Row {
  readonly topic: Topic
  /** Undefined where the topic could not be verified at all. */
  readonly part: Part | undefined
}

const COLUMNS: readonly Column<Row>[] = [
  { heading: 'Mirror Topic Name', key: 'mirror_topic_name', value: row => row.topic.mirror_topic_name },
  { heading: 'Partition', key: 'partition', value: row => row.part?.partition ?? -1 },
  { heading: 'Result', key: 'state', value: row => row.part?.state ?? 'FAILED' },
  { heading: 'From', key: 'from_offset', value: row => row.part?.from_offset },
  { heading: 'To', key: 'to_offset', value: row => row.part?.to_offset },
  { heading: 'Batches', key: 'compared_batches', value: row => row.part?.compared_batches },
  {
    heading: 'Size',
    key: 'compared_bytes',
    value: row => row.part?.compared_bytes,
    text: row => (row.part ? byteText(row.part.compared_bytes) : ''),
  },
  { heading: 'Remark', key: 'remark', value: remarkOf },
]

export function printVerification(context: CommandContext, verification: VerificationData): void {
  if (context.format !== 'human') {
    const { kind: _kind, metadata: _metadata, ...data } = verification
    return printData(context, data)
  }
  const rows = verification.topics.flatMap((topic): Row[] =>
    topic.error_code !== null || topic.partitions.length === 0
      ? [{ topic, part: undefined }]
      : topic.partitions.map(part => ({ topic, part })),
  )
  printRows(context, rows, { columns: COLUMNS, empty: 'No mirror topic matched.' })
  if (verification.outcome === 'EQUAL') context.terminal.out(`\n${verdictText(verification)}.\n`)
}

/** One sentence, without its full stop. */
export function verdictText(verification: VerificationData): string {
  const { outcome, state, topics, done_offsets: offsets, compared_bytes: bytes } = verification
  const compared = `${counted(offsets, 'offset')} (${byteText(bytes)}) compared`
  if (state === 'CANCELLED') return `the verification was cancelled; ${compared}`
  if (outcome === 'EQUAL') return `Source and mirror are equal: ${compared}`
  const parts = topics.flatMap(topic => topic.partitions)
  const different = parts.filter(part => part.difference !== null).length
  if (different > 0) return `source and mirror differ in ${counted(different, 'partition')}; ${compared}`
  return `not everything could be compared, the rest is equal; ${compared}`
}

/** For a line that is written over. */
export function progressText(verification: VerificationData): string {
  const { done_offsets: done, total_offsets: total, compared_bytes: bytes } = verification
  const share = total > 0 ? `${Math.floor((100 * done) / total)} %` : 'asking both ends'
  return `${share}  ${grouped(done)} of ${grouped(total)} offsets, ${byteText(bytes)}`
}

function remarkOf({ topic, part }: Row): string {
  if (!part) return topic.error_message ?? 'no partitions'
  const only = [
    ...(part.records_only_at_source > 0 ? [`${grouped(part.records_only_at_source)} only at the source`] : []),
    ...(part.records_only_at_mirror > 0 ? [`${grouped(part.records_only_at_mirror)} only at the mirror`] : []),
  ]
  return [
    ...(part.difference ? [`offset ${part.difference.offset}: ${part.difference.message}`] : []),
    ...part.not_compared.map(range => `${range.from_offset} to ${range.to_offset} not compared: ${range.reason}`),
    ...(only.length > 0 ? [`cleaned since: ${only.join(', ')}`] : []),
    ...(part.message !== null ? [part.message] : []),
  ].join('; ')
}
