/** What becomes of each topic after a verb was accepted, until all are where the verb leads; what was refused, in place. */

import { factsOfVerb } from '../../rest/schemas/mirror-verbs.ts'
import type { MirrorData, MirrorDataList } from '../../rest/schemas/mirrors.ts'
import { call } from '../api/api-client.ts'
import { linkPath, mirrorPath } from '../api/paths.ts'
import { lagOf } from '../live/mirror-rows.ts'
import { useLoaded } from '../parts/loaded.ts'
import { Failure } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'
import { numberText, statusWords } from '../text/figures.ts'
import { type AlterRow, isRefused } from './verbs.ts'

const PERIOD_MS = 700
/** Of more topics all mirrors of the link are asked for at once. */
const SINGLE_MAX = 5
const ROWS_SHOWN = 200

interface ProgressProps {
  readonly link: string
  readonly verb: string
  /** The answer to the verb. */
  readonly rows: readonly AlterRow[]
}

export function Progress({ link, verb, rows }: ProgressProps) {
  const names = rows.filter(row => !isRefused(row)).map(row => row.mirror_topic_name)
  const loaded = useLoaded(signal => mirrorsOf(link, names, signal), `${link} ${verb}`, PERIOD_MS)
  const now = new Map((loaded.value.value ?? []).map(mirror => [mirror.mirror_topic_name, mirror]))
  const { reached = [], endsAtPeer = false } = factsOfVerb(verb) ?? {}
  const isThere = (name: string) => {
    const mirror = now.get(name)
    if (mirror === undefined || !reached.includes(mirror.mirror_status)) return false
    return !endsAtPeer || typeof mirror.reversal?.read_only_ms === 'number'
  }
  const there = names.filter(isThere).length
  const failed = names.filter(name => now.get(name)?.mirror_status === 'FAILED').length
  const isOver = there + failed === names.length
  return (
    <div class="stack tight">
      <p role="status">
        <strong>
          {numberText(there)} of {numberText(names.length)}
        </strong>{' '}
        {isOver ? 'done.' : 'done; the node goes on also when this is closed.'}
        {rows.length > names.length ? ` ${numberText(rows.length - names.length)} refused.` : ''}
      </p>
      <progress max={Math.max(1, names.length)} value={there} aria-label="Topics that are done" />
      <Failure error={loaded.error.value} />
      <ul class="steps">
        {rows.slice(0, ROWS_SHOWN).map(row => (
          <li key={row.mirror_topic_name}>
            <code>{row.mirror_topic_name}</code>
            {isRefused(row) ? (
              <span class="bad-text">{row.error_message}</span>
            ) : (
              <Step mirror={now.get(row.mirror_topic_name)} isThere={isThere(row.mirror_topic_name)} />
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

function Step({ mirror, isThere }: { readonly mirror: MirrorData | undefined; readonly isThere: boolean }) {
  if (!mirror) return <span class="muted">asking…</span>
  const lag = lagOf(mirror)
  return (
    <span class="title-line">
      {!isThere && lag !== null && lag > 0 ? <span class="muted">{numberText(lag)} behind</span> : null}
      {!isThere && mirror.reason !== null ? <span class="muted">{mirror.reason}</span> : null}
      <PeerStep mirror={mirror} />
      <Status value={mirror.mirror_status} />
    </span>
  )
}

/** Where the roles of both ends change: how the other one is. */
function PeerStep({ mirror: { reversal } }: { readonly mirror: MirrorData }) {
  if (reversal === null) return null
  const { peer_status: status, peer_reason: reason } = reversal
  if (status === null) return null
  return (
    <span class="muted" title={reason ?? undefined}>
      other end: {statusWords(status)}
    </span>
  )
}

async function mirrorsOf(link: string, names: readonly string[], signal: AbortSignal): Promise<readonly MirrorData[]> {
  if (names.length <= SINGLE_MAX)
    return Promise.all(names.map(name => call<MirrorData>('GET', mirrorPath(link, name), { signal })))
  return (await call<MirrorDataList>('GET', linkPath(link, 'mirrors'), { signal })).data
}
