/** Topics that are here and at the other end of a bidirectional link: some are chosen to be restored, i.e. made mirrors of what is there. Opened from the table of mirrors. */
import { useSignal } from '@preact/signals'
import { restorableReasons } from '../../rest/schemas/mirror-obstacles.ts'
import type { SourceTopicData } from '../../rest/schemas/source-topics.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { counted } from '../text/figures.ts'
import { SourceTopics } from './source-topics.tsx'
import { VerbDialog } from './verb-dialog.tsx'

export function RestoreTopics({ link, close }: { readonly link: string; readonly close: () => void }) {
  const chosen = useSignal<readonly SourceTopicData[]>([])
  const topics = useSignal<readonly string[] | undefined>(undefined)
  if (topics.value) return <VerbDialog link={link} verb="truncate-and-restore" topics={topics.value} close={close} />
  return (
    <Dialog
      title={`Restore topics of ${link}`}
      close={close}
      isWide
      foot={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            tone="primary"
            disabled={chosen.value.length === 0}
            onClick={() => (topics.value = chosen.peek().map(topic => topic.mirror_topic_name))}
          >
            Dry run of {counted(chosen.value.length, 'topic')}
          </Button>
        </>
      }
    >
      <p>
        Topics of both clusters, promoted or failed over there: what only this cluster has is cut off, and they follow
        the other one.
      </p>
      <SourceTopics link={link} isOffered={isRestorable} chosen={chosen} />
    </Dialog>
  )
}

const isRestorable = ({ reason }: SourceTopicData): boolean => reason !== null && restorableReasons.has(reason)
