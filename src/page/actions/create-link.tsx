/** A new link: where it leads and how it logs in, with everything that its creation would check shown while one types. Opened from the overview. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { LinkReport } from '../../rest/schemas/links.ts'
import type { LinkPreflight } from '../../rest/schemas/preflight.ts'
import { call } from '../api/api-client.ts'
import { clusterPath } from '../api/paths.ts'
import { refreshSoon } from '../live/cluster-state.ts'
import { linkHref } from '../live/problems.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Failure, Nothing } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'
import { statusWords } from '../text/figures.ts'
import { bodyOf, emptyDraft, isComplete, type LinkDraft } from './link-draft.ts'
import { LinkFields } from './link-fields.tsx'

/** Somebody types: the node is asked once they pause. */
const PAUSE_MS = 600

export function CreateLink({ close }: { readonly close: () => void }) {
  const draft = useSignal<LinkDraft>(emptyDraft)
  const checks = useSignal<LinkPreflight | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const isCreating = useSignal(false)
  useEffect(() => {
    checks.value = undefined
    error.value = undefined
    if (!isComplete(draft.value)) return
    const ended = new AbortController()
    const timer = setTimeout(async () => {
      const options = {
        query: { link_name: draft.peek().name.trim() },
        body: bodyOf(draft.peek()),
        signal: ended.signal,
      }
      try {
        checks.value = await call<LinkPreflight>('POST', `${clusterPath('links')}:preflight`, options)
      } catch (problem) {
        if (!ended.signal.aborted) error.value = problem
      }
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      ended.abort()
    }
  }, [draft.value, checks, error, draft])
  const create = async () => {
    isCreating.value = true
    const name = draft.peek().name.trim()
    try {
      const query = { link_name: name, report: 'true' }
      await call<LinkReport>('POST', clusterPath('links'), { query, body: bodyOf(draft.peek()) })
      refreshSoon()
      close()
      location.hash = linkHref(name)
    } catch (problem) {
      error.value = problem
    }
    isCreating.value = false
  }
  return (
    <Dialog
      title="New link"
      close={close}
      isWide
      foot={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button tone="primary" disabled={checks.value?.ok !== true || isCreating.value} onClick={create}>
            Create link
          </Button>
        </>
      }
    >
      <LinkFields draft={draft} />
      <h3>Checks: nothing is created yet</h3>
      {checks.value ? <p role="status">{summaryOf(checks.value)}</p> : null}
      <Failure error={error.value} />
      {checks.value ? (
        <Checks results={checks.value.results} />
      ) : error.value ? null : (
        <Nothing>
          {isComplete(draft.value) ? 'Asking the other cluster…' : 'They begin when name and addresses are filled in.'}
        </Nothing>
      )}
    </Dialog>
  )
}

/** How many checks came out how; the list is longer than what one sees of it. */
function summaryOf({ ok, results }: LinkPreflight): string {
  const count = (wanted: string) => results.filter(({ state }) => state === wanted).length
  const parts = (['FAILED', 'WARNING', 'PASSED', 'SKIPPED'] as const).flatMap(state =>
    count(state) > 0 ? [`${count(state)} ${statusWords(state)}`] : [],
  )
  return `${ok ? 'The link can be created' : 'The link cannot be created'}: ${parts.join(', ')}.`
}

function Checks({ results }: { readonly results: LinkPreflight['results'] }) {
  return (
    <ul class="checks" aria-label="Checks" aria-live="polite">
      {results.map(({ name, state, message, hint }) => (
        <li key={name}>
          <Status value={state} />
          <div>
            <code>{name}</code> {message}
            {hint === null ? null : <p class="muted">{hint}</p>}
          </div>
        </li>
      ))}
    </ul>
  )
}
