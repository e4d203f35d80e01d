/** `lockstep mirror history` */
import type { MirrorStateChangeList } from '../../../rest/schemas/mirrors.ts'
import type { CommandAction } from '../../command-row.ts'
import { type Column, printRows } from '../../output.ts'
import { mirrorPath } from '../../resource-paths.ts'
import { dateText } from '../../words.ts'

type Entry = MirrorStateChangeList['data'][number]

const COLUMNS: readonly Column<Entry>[] = [
  { heading: 'Time (UTC)', key: 'time_ms', value: row => row.time_ms, text: row => dateText(row.time_ms) },
  { heading: 'Mirror Status', key: 'mirror_status', value: row => row.mirror_status },
  { heading: 'Before', key: 'previous_status', value: row => row.previous_status },
  { heading: 'Event', key: 'event', value: row => row.event },
  { heading: 'Reason', key: 'reason', value: row => row.reason },
]

export const showHistory: CommandAction<{ link: string }> = async (context, [topic = ''], { link }) => {
  const { data } = await context.rest.get<MirrorStateChangeList>(`${mirrorPath(link, topic)}/history`)
  printRows(context, data, { columns: COLUMNS, empty: 'No entries.' })
}
