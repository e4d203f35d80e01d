/** Letting a link have a group whose offsets somebody else has committed here: first which would be overwritten. Opened from the table of groups. */
import { useSignal } from '@preact/signals'
import type { LinkGroupData } from '../../rest/schemas/groups.ts'
import { call } from '../api/api-client.ts'
import { linkPath } from '../api/paths.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/notice.tsx'
import { counted, numberText } from '../text/figures.ts'

interface AdoptGroupProps {
  readonly link: string
  readonly group: string
  /** Of the link, as the last round of the sync found them. */
  readonly offsets: readonly LinkGroupData[]
  readonly close: () => void
}

export function AdoptGroup({ link, group, offsets, close }: AdoptGroupProps) {
  const error = useSignal<unknown>(undefined)
  const lost = offsets.filter(row => row.group_id === group && row.state === 'CONFLICT')
  const adopt = () =>
    call('POST', `${linkPath(link, 'groups', group)}:adopt`).then(close, problem => {
      error.value = problem
    })
  return (
    <Dialog
      title={`Adopt: ${group}`}
      close={close}
      foot={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button tone="danger" disabled={lost.length === 0} onClick={adopt}>
            Overwrite {counted(lost.length, 'offset')}
          </Button>
        </>
      }
    >
      <p>
        Somebody else has committed these offsets here. They become those of the source, which the link keeps in step.
      </p>
      <h3>Nothing has been changed yet</h3>
      <Failure error={error.value} />
      <ul class="steps scrolled">
        {lost.map(({ topic_name: topic, partition, source_offset: offset, reason }) => (
          <li key={`${topic} ${partition}`}>
            <code>
              {topic} / {partition}
            </code>
            <span>
              <span class="muted">{reason}</span> ({numberText(offset)} at the source)
            </span>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
