/** What may be done with a link as a whole: pausing and resuming it, deleting it. Shown at its head. */
import { useSignal } from '@preact/signals'
import type { LinkData } from '../../rest/schemas/links.ts'
import { Button } from '../parts/button.tsx'
import { DeleteLink } from './delete-link.tsx'
import { TurnLink } from './turn-link.tsx'

export function LinkActions({ link }: { readonly link: LinkData }) {
  const isDeleting = useSignal(false)
  const isTurning = useSignal(false)
  return (
    <div class="actions">
      <Button onClick={() => (isTurning.value = true)}>
        {link.link_state === 'PAUSED' ? 'Resume link' : 'Pause link'}
      </Button>
      <Button tone="danger" onClick={() => (isDeleting.value = true)}>
        Delete link
      </Button>
      {isTurning.value ? <TurnLink link={link} close={() => (isTurning.value = false)} /> : null}
      {isDeleting.value ? <DeleteLink link={link} close={() => (isDeleting.value = false)} /> : null}
    </div>
  )
}
