/** One verb on mirrors, from the dry run over the confirmation to the end state of each topic. Opened by the buttons of mirrors. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { factsOfVerb } from '../../rest/schemas/mirror-verbs.ts'
import type { AlterMirrorsAnswer } from '../../rest/schemas/mirrors.ts'
import { call } from '../api/api-client.ts'
import { mirrorVerbPath } from '../api/paths.ts'
import { links } from '../live/cluster-state.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Failure, Nothing, Notice } from '../parts/notice.tsx'
import { counted } from '../text/figures.ts'
import { Progress } from './progress.tsx'
import { TollOfRows } from './toll.tsx'
import { TypedName } from './typed-name.tsx'
import { type AlterRow, FLAG_TEXTS, type Flag, isRefused, textOf } from './verbs.ts'

export interface VerbDialogProps {
  readonly link: string
  readonly verb: string
  readonly topics: readonly string[]
  readonly close: () => void
}

export function VerbDialog({ link, verb, topics, close }: VerbDialogProps) {
  const { flags, dry, done, error, isAsking, act } = useVerb(link, verb, topics)
  const isConfirmed = useSignal(false)
  const facts = factsOfVerb(verb)
  const { label, what } = textOf(verb)
  const subject = topics.length === 1 ? (topics[0] ?? '') : counted(topics.length, 'mirror')
  const canDo = (dry.value ?? []).some(row => !isRefused(row))
  const typed = facts?.losesData ? (topics.length === 1 ? (topics[0] ?? '') : link) : undefined
  if (done.value)
    return (
      <Dialog title={`${label}: ${subject}`} close={close} isWide foot={<Button onClick={close}>Close</Button>}>
        <Progress link={link} verb={verb} rows={done.value} />
      </Dialog>
    )
  return (
    <Dialog
      title={`${label}: ${subject}`}
      close={close}
      isWide
      foot={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            tone={facts?.losesData ? 'danger' : 'primary'}
            disabled={!canDo || isAsking.value || (typed !== undefined && !isConfirmed.value)}
            onClick={act}
          >
            {label} {topics.length > 1 ? counted(topics.length, 'mirror') : ''}
          </Button>
        </>
      }
    >
      <p>{what}</p>
      {verb !== 'failover' ? null : isAnswering(link) ? (
        <Notice tone="calm">The source answers. Promote waits until everything has arrived, and loses nothing.</Notice>
      ) : (
        <Notice tone="warn">The source does not answer: what it took after it was last heard is not counted.</Notice>
      )}
      {(facts?.flags ?? [])
        .filter(flag => flag !== 'together' || topics.length > 1)
        .map(flag => (
          <label key={flag} class="check">
            <input
              type="checkbox"
              checked={flags.value.has(flag)}
              onClick={() => (flags.value = toggled(flags.peek(), flag))}
            />
            {FLAG_TEXTS[flag]}
          </label>
        ))}
      <h3>Dry run: nothing has been changed yet</h3>
      <Failure error={error.value} />
      {dry.value ? (
        <TollOfRows verb={verb} rows={dry.value} />
      ) : error.value ? null : (
        <Nothing>Asking the node…</Nothing>
      )}
      {typed !== undefined && canDo ? <TypedName name={typed} isConfirmed={isConfirmed} /> : null}
    </Dialog>
  )
}

function isAnswering(link: string): boolean {
  const found = links.value?.find(each => each.link_name === link)
  return found?.link_state === 'ACTIVE' && found.link_error === 'NO_ERROR'
}

/** The answers to the dry run, again for each choice of flags, and to the verb itself. */
function useVerb(link: string, verb: string, topics: readonly string[]) {
  const flags = useSignal<ReadonlySet<Flag>>(new Set())
  const dry = useSignal<readonly AlterRow[] | undefined>(undefined)
  const done = useSignal<readonly AlterRow[] | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const isAsking = useSignal(false)
  const askInto = async (into: typeof dry, isDry: boolean) => {
    const asked = flags.peek()
    const body = { mirror_topic_names: topics, ...Object.fromEntries([...asked].map(flag => [flag, true])) }
    const query = { validate_only: isDry ? 'true' : undefined }
    // Of a dry run whose flags somebody has changed meanwhile nothing is told: another one is on its way.
    const isWanted = () => !isDry || asked === flags.peek()
    isAsking.value = true
    error.value = undefined
    try {
      const { data } = await call<AlterMirrorsAnswer>('POST', mirrorVerbPath(link, verb), { query, body })
      if (isWanted()) into.value = data
    } catch (problem) {
      if (isWanted()) error.value = problem
    }
    if (isWanted()) isAsking.value = false
  }
  useEffect(() => {
    void askInto(dry, true)
  }, [flags.value])
  return { flags, dry, done, error, isAsking, act: () => askInto(done, false) }
}

function toggled(flags: ReadonlySet<Flag>, flag: Flag): ReadonlySet<Flag> {
  const changed = new Set(flags)
  if (!changed.delete(flag)) changed.add(flag)
  return changed
}
