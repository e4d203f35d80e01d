/** Deleting a link: the node says first whether it can be, and which mirrors would be failed over; then its name has to be typed. */
import { useSignal } from '@preact/signals'
import type { LinkData, LinkReport } from '../../rest/schemas/links.ts'
import { call } from '../api/api-client.ts'
import { linkPath } from '../api/paths.ts'
import { refreshSoon } from '../live/cluster-state.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { useLoaded } from '../parts/loaded.ts'
import { Failure, Nothing, Notice } from '../parts/notice.tsx'
import { counted } from '../text/figures.ts'
import { TypedName } from './typed-name.tsx'

export function DeleteLink({ link, close }: { readonly link: LinkData; readonly close: () => void }) {
  const { link_name: name } = link
  const force = useSignal(false)
  const isConfirmed = useSignal(false)
  const error = useSignal<unknown>(undefined)
  const query = () => ({ report: 'true', force: force.value ? 'true' : undefined })
  const dry = useLoaded(
    signal => call<LinkReport>('DELETE', linkPath(name), { query: { ...query(), validate_only: 'true' }, signal }),
    String(force.value),
  )
  const remove = async () => {
    try {
      await call('DELETE', linkPath(name), { query: query() })
      refreshSoon()
      location.hash = '#/'
    } catch (problem) {
      error.value = problem
    }
  }
  const failedOver = dry.value.value?.failed_over ?? []
  return (
    <Dialog
      title={`Delete link ${name}`}
      close={close}
      foot={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button tone="danger" disabled={!dry.value.value || !isConfirmed.value} onClick={remove}>
            Delete link
          </Button>
        </>
      }
    >
      <p>
        The link and the history of {counted(link.topic_names.length, 'mirror')} are forgotten. The topics and their
        data stay here.
      </p>
      <label class="check">
        <input type="checkbox" checked={force.value} onClick={() => (force.value = !force.value)} />
        Fail over mirrors that still follow their source
      </label>
      <h3>Dry run: nothing has been changed yet</h3>
      <Failure
        error={dry.error.value}
        {...(force.value ? {} : { hint: 'Fail them over first, or tick the box above.' })}
      />
      <Failure error={error.value} />
      {!dry.value.value && !dry.error.value ? <Nothing>Asking the node…</Nothing> : null}
      {failedOver.length > 0 ? (
        <Notice tone="warn">
          {counted(failedOver.length, 'mirror')} will be failed over, with what has arrived:{' '}
          {failedOver.slice(0, 20).join(', ')}
        </Notice>
      ) : null}
      {dry.value.value && failedOver.length === 0 ? (
        <Notice tone="good">No mirror has to be failed over.</Notice>
      ) : null}
      {(dry.value.value?.warnings ?? []).map(warning => (
        <Notice key={warning} tone="warn">
          {warning}
        </Notice>
      ))}
      {dry.value.value ? <TypedName name={name} isConfirmed={isConfirmed} /> : null}
    </Dialog>
  )
}
