/** New mirrors of a link: topics of its source, some chosen, each one's outcome. Opened from the table of mirrors. */
import { useSignal } from '@preact/signals'
import { reasonsAgainstMirrors } from '../../rest/schemas/mirror-obstacles.ts'
import type { SourceTopicData } from '../../rest/schemas/source-topics.ts'
import { call, messageOf } from '../api/api-client.ts'
import { linkPath } from '../api/paths.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { counted, numberText } from '../text/figures.ts'
import { SourceTopics } from './source-topics.tsx'

interface Outcome {
  readonly topic: string
  readonly error: string | undefined
  readonly warnings: readonly string[]
}

export function CreateMirrors({ link, close }: { readonly link: string; readonly close: () => void }) {
  const chosen = useSignal<readonly SourceTopicData[]>([])
  const { outcomes, total, create } = useCreation(link)
  if (outcomes.value)
    return (
      <Dialog title={`New mirrors of ${link}`} close={close} isWide foot={<Button onClick={close}>Close</Button>}>
        <Outcomes outcomes={outcomes.value} total={total.value} />
      </Dialog>
    )
  return (
    <Dialog
      title={`New mirrors of ${link}`}
      close={close}
      isWide
      foot={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button tone="primary" disabled={chosen.value.length === 0} onClick={() => create(chosen.peek())}>
            Create {counted(chosen.value.length, 'mirror')}
          </Button>
        </>
      }
    >
      <p>Topics of the source that are not mirrored yet. A mirror gets the same partitions, offsets and records.</p>
      <SourceTopics link={link} isOffered={isPossible} chosen={chosen} tellsOthers />
    </Dialog>
  )
}

const isPossible = ({ reason }: SourceTopicData): boolean => reason === null || !reasonsAgainstMirrors.has(reason)

/** Creates one after the other, and tells what became of each. */
function useCreation(link: string) {
  const outcomes = useSignal<readonly Outcome[] | undefined>(undefined)
  const total = useSignal(0)
  const create = async (chosen: readonly SourceTopicData[]) => {
    const done: Outcome[] = []
    total.value = chosen.length
    outcomes.value = done
    for (const topic of chosen) {
      done.push(await createOne(link, topic))
      outcomes.value = [...done]
    }
  }
  return { outcomes, total, create }
}

function Outcomes({ outcomes, total }: { readonly outcomes: readonly Outcome[]; readonly total: number }) {
  const created = outcomes.filter(({ error }) => error === undefined).length
  return (
    <>
      <p role="status">
        <strong>
          {numberText(created)} of {counted(total, 'mirror')}
        </strong>{' '}
        created.
      </p>
      <progress max={Math.max(1, total)} value={outcomes.length} aria-label="Mirrors that were asked for" />
      <ul class="steps">
        {outcomes.map(({ topic, error, warnings }) => (
          <li key={topic}>
            <code>{topic}</code>
            {error === undefined ? (
              <span>{['created', ...warnings].join('. ')}</span>
            ) : (
              <span class="bad-text">{error}</span>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}

async function createOne(link: string, topic: SourceTopicData): Promise<Outcome> {
  const { source_topic_name: source, mirror_topic_name: mirror } = topic
  try {
    const body = { source_topic_name: source, ...(mirror === source ? {} : { mirror_topic_name: mirror }) }
    const path = linkPath(link, 'mirrors')
    const { warnings } = await call<{ warnings: string[] }>('POST', path, { query: { report: 'true' }, body })
    return { topic: mirror, error: undefined, warnings }
  } catch (error) {
    return { topic: mirror, error: messageOf(error), warnings: [] }
  }
}
