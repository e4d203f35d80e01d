/** What may be done with a link as a whole: pausing and resuming it, deleting it. Shown at its head. */
import { useSignal } from '@preact/signals'
import type { LinkData } from '../../rest/schemas/links.ts'
import { call } from '../api/api-client.ts'
import { linkPath } from '../api/paths.ts'
import { refreshSoon } from '../live/cluster-state.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/notice.tsx'
import { DeleteLink } from './delete-link.tsx'

const PAUSED = 'cluster.link.paused'

export function LinkActions({ link }: { readonly link: LinkData }) {
  const isDeleting = useSignal(false)
  const error = useSignal<unknown>(undefined)
  const isPaused = link.link_state === 'PAUSED'
  const turn = async () => {
    const body = { data: [{ name: PAUSED, value: String(!isPaused) }] }
    try {
      await call('PUT', `${linkPath(link.link_name, 'configs')}:alter`, { body })
      error.value = undefined
    } catch (problem) {
      error.value = problem
    }
    refreshSoon()
  }
  return (
    <div class="actions">
      <Failure error={error.value} />
      <Button onClick={turn}>{isPaused ? 'Resume link' : 'Pause link'}</Button>
      <Button tone="danger" onClick={() => (isDeleting.value = true)}>
        Delete link
      </Button>
      {isDeleting.value ? <DeleteLink link={link} close={() => (isDeleting.value = false)} /> : null}
    </div>
  )
}
