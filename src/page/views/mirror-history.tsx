/** What has happened to a mirror: its states with their reasons, and incidents, the newest first. Part of the view of a mirror. */
import type { MirrorStateChangeList } from '../../rest/schemas/mirrors.ts'
import { call } from '../api/api-client.ts'
import { mirrorPath } from '../api/paths.ts'
import { useLoaded } from '../parts/loaded.ts'
import { Moment } from '../parts/moment.tsx'
import { Failure } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'
import { statusWords } from '../text/figures.ts'

interface HistoryProps {
  readonly link: string
  readonly topic: string
  /** Changes with the state: then the history is asked for anew. */
  readonly version: string
}

export function MirrorHistory({ link, topic, version }: HistoryProps) {
  const loaded = useLoaded(
    signal => call<MirrorStateChangeList>('GET', mirrorPath(link, topic, 'history'), { signal }),
    `${link} ${topic} ${version}`,
  )
  return (
    <section class="stack tight" aria-label="History">
      <h2>History</h2>
      <Failure error={loaded.error.value} />
      <ol class="card history">
        {(loaded.value.value?.data ?? []).map((entry, index, all) => (
          <li key={all.length - index}>
            <Moment ms={entry.time_ms} />
            <div>
              <Status value={entry.mirror_status} />{' '}
              {entry.previous_status === entry.mirror_status ? <strong>{statusWords(entry.event)}</strong> : null}
              <p>{entry.reason}</p>
            </div>
          </li>
        ))}
      </ol>
    </section>
  )
}
