/** Pausing a whole link, and resuming it: first what stands still or goes on again, checked by the node. Opened at the head of a link. */
import { useSignal } from '@preact/signals'
import type { LinkData } from '../../rest/schemas/links.ts'
import { factsOfVerb } from '../../rest/schemas/mirror-verbs.ts'
import { call } from '../api/api-client.ts'
import { linkPath } from '../api/paths.ts'
import { refreshSoon } from '../live/cluster-state.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { useLoaded } from '../parts/loaded.ts'
import { Failure } from '../parts/notice.tsx'
import { numberText } from '../text/figures.ts'

export function TurnLink({ link, close }: { readonly link: LinkData; readonly close: () => void }) {
  const { link_name: name, mirror_status_counts: counts } = link
  const isPaused = link.link_state === 'PAUSED'
  const label = isPaused ? 'Resume link' : 'Pause link'
  const error = useSignal<unknown>(undefined)
  const ask = (dry: boolean) => {
    const query = { validate_only: dry ? 'true' : undefined }
    const body = { data: [{ name: 'cluster.link.paused', value: String(!isPaused) }] }
    return call('PUT', `${linkPath(name, 'configs')}:alter`, { query, body }).then(() => true)
  }
  const dry = useLoaded(() => ask(true), label)
  const turn = () =>
    ask(false)
      .then(close, problem => (error.value = problem))
      .then(refreshSoon)
  const following = factsOfVerb('resume')?.reached ?? []
  const mirrors = counts.reduce((sum, { mirror_status: at, count }) => sum + (following.includes(at) ? count : 0), 0)
  return (
    <Dialog
      title={`${label} ${name}`}
      close={close}
      foot={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button tone="primary" disabled={!dry.value.value} onClick={turn}>
            {label}
          </Button>
        </>
      }
    >
      <p>
        {isPaused
          ? 'Mirrors fetch again, from where they end; those that were paused one by one stay so.'
          : 'Nothing is fetched until the link is resumed. What the source deletes meanwhile is never mirrored.'}
      </p>
      <h3>Dry run: nothing has been changed yet</h3>
      <Failure error={dry.error.value} />
      <Failure error={error.value} />
      <ul class="toll">
        <li class={isPaused ? 'good' : 'warn'}>
          <strong>{numberText(mirrors)}</strong>
          <span>{isPaused ? 'mirrors follow their source again' : 'mirrors stand still'}</span>
        </li>
      </ul>
    </Dialog>
  )
}
