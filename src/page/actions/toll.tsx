/** What a dry run says, in numbers: the sum first, then topic by topic. Dialogs of actions show it. */
import { isNarrow } from '../parts/narrow.ts'
import { Notice } from '../parts/notice.tsx'
import { byteText, counted, durationText, numberText } from '../text/figures.ts'
import { type AlterRow, isRefused, type Toll, tollOf } from './verbs.ts'

/** Topics that are listed one by one. */
const ROWS_SHOWN = 100

interface Figure {
  readonly text: string
  readonly value: string
  readonly tone: 'bad' | 'warn' | 'good' | 'calm'
}

export function TollOfRows({ verb, rows }: { readonly verb: string; readonly rows: readonly AlterRow[] }) {
  const toll = tollOf(rows)
  return (
    <div class="stack tight">
      <ul class="toll">
        {figuresOf(verb, toll).map(({ text, value, tone }) => (
          <li key={text} class={tone}>
            <strong>{value}</strong>
            <span>{text}</span>
          </li>
        ))}
      </ul>
      {toll.warnings.map(warning => (
        <Notice key={warning} tone="warn">
          {warning}
        </Notice>
      ))}
      <Groups title="Groups not in step yet" names={toll.groupsBehind} />
      <Groups title="Groups in use here, which are not overwritten" names={toll.groupsInUse} />
      <details open={rows.length === 1 || toll.refused.length > 0}>
        <summary>Topic by topic</summary>
        <div class="scrolled">
          <table>
            <thead>
              <tr>
                <th>Topic</th>
                <th class="figure">Behind</th>
                {isNarrow.value ? null : <th class="figure">End offsets, added up</th>}
                <th>Outcome</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, ROWS_SHOWN).map(row => (
                <TopicRow key={row.mirror_topic_name} row={row} />
              ))}
            </tbody>
          </table>
        </div>
        {rows.length > ROWS_SHOWN ? <p class="muted">and {counted(rows.length - ROWS_SHOWN, 'topic')} more</p> : null}
      </details>
    </div>
  )
}

function TopicRow({ row }: { readonly row: AlterRow }) {
  const lags = row.mirror_lags.map(({ lag }) => lag)
  const behind = lags.includes(null) ? null : lags.reduce<number>((total, lag) => total + (lag ?? 0), 0)
  const ends = row.partitions.map(({ end_offset: end }) => end)
  const end =
    ends.length === 0 || ends.includes(null) ? null : ends.reduce<number>((total, one) => total + (one ?? 0), 0)
  const waits = row.partitions.flatMap(({ waiting_for: what }) => (what === null ? [] : [what]))
  return (
    <tr>
      <td class="mono">{row.mirror_topic_name}</td>
      <td class="figure">{isRefused(row) ? '–' : numberText(behind)}</td>
      {isNarrow.value ? null : <td class="figure">{isRefused(row) ? '–' : numberText(end)}</td>}
      <td>{isRefused(row) ? <span class="bad-text">{row.error_message}</span> : (waits[0] ?? 'can be done')}</td>
    </tr>
  )
}

function Groups({ title, names }: { readonly title: string; readonly names: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <p class="muted">
      {title}: <code>{names.slice(0, 20).join(', ')}</code>
      {names.length > 20 ? ` and ${names.length - 20} more` : ''}
    </p>
  )
}

function figuresOf(verb: string, toll: Toll): Figure[] {
  const missing = `${numberText(toll.missing)}${toll.unknown > 0 ? '+' : ''}`
  const figures: Figure[] = [
    { text: toll.topics === 1 ? 'topic' : 'topics', value: numberText(toll.topics), tone: 'calm' },
  ]
  const add = (value: number, figure: Figure) => {
    if (value > 0) figures.push(figure)
  }
  add(toll.refused.length, { text: 'refused', value: numberText(toll.refused.length), tone: 'bad' })
  if (verb === 'failover')
    figures.push({
      text: 'records of the source that will be missing here, as last seen',
      value: missing,
      tone: toll.missing + toll.unknown > 0 ? 'bad' : toll.behindMs > 0 ? 'warn' : 'good',
    })
  if (verb === 'failover')
    add(toll.behindMs, {
      text: 'since all that the source had was here',
      value: durationText(toll.behindMs),
      tone: 'warn',
    })
  if (verb !== 'failover' && verb !== 'truncate-and-restore')
    figures.push({ text: 'records behind now', value: missing, tone: 'calm' })
  add(toll.unknown, { text: 'partitions of which that is not known', value: numberText(toll.unknown), tone: 'warn' })
  add(toll.transactions, {
    text: 'open transactions that will be aborted',
    value: numberText(toll.transactions),
    tone: 'warn',
  })
  if (verb === 'promote')
    figures.push({
      text: 'groups not in step yet',
      value: numberText(toll.groupsBehind.length),
      tone: toll.groupsBehind.length > 0 ? 'warn' : 'good',
    })
  add(toll.retentionBytes, {
    text: 'of old data that retention will delete soon',
    value: byteText(toll.retentionBytes),
    tone: 'warn',
  })
  add(toll.deletedAtSource, {
    text: 'offsets that the source has deleted meanwhile',
    value: numberText(toll.deletedAtSource),
    tone: 'warn',
  })
  add(toll.truncated, { text: 'records that will be cut off', value: numberText(toll.truncated), tone: 'bad' })
  add(toll.overlappingIds, {
    text: 'producer ids that may have been handed out twice',
    value: numberText(toll.overlappingIds),
    tone: 'warn',
  })
  return figures
}
