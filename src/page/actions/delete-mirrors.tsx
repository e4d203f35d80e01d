/** Deleting mirror topics: first what goes and what would come back, then the name, then each topic's outcome. */
import { useSignal } from '@preact/signals'
import type { MirrorData } from '../../rest/schemas/mirrors.ts'
import type { TopicDeletionReport } from '../../rest/schemas/source-topics.ts'
import { ApiError, call, messageOf } from '../api/api-client.ts'
import { clusterPath, mirrorPath } from '../api/paths.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { useLoaded } from '../parts/loaded.ts'
import { Failure, Nothing, Notice } from '../parts/notice.tsx'
import { counted, numberText } from '../text/figures.ts'
import { TypedName } from './typed-name.tsx'
import { textOf } from './verbs.ts'

interface DeleteMirrorsProps {
  readonly link: string
  readonly topics: readonly string[]
  readonly close: () => void
}

interface Loss {
  readonly topic: string
  readonly partitions: number
  readonly offsets: number
  readonly warnings: readonly string[]
  readonly refusal: string | undefined
}

export function DeleteMirrors({ link, topics, close }: DeleteMirrorsProps) {
  const isConfirmed = useSignal(false)
  const outcomes = useSignal<ReadonlyMap<string, string | undefined> | undefined>(undefined)
  const dry = useLoaded(signal => lossesOf(link, topics, signal), topics.join(' '))
  const losses = dry.value.value
  const possible = losses?.filter(({ refusal }) => refusal === undefined) ?? []
  const remove = async () => {
    const results = new Map<string, string | undefined>()
    for (const { topic } of possible) {
      await call('DELETE', clusterPath('topics', topic))
        .then(() => results.set(topic, undefined))
        .catch(error => results.set(topic, messageOf(error)))
      outcomes.value = new Map(results)
    }
  }
  const name = topics.length === 1 ? (topics[0] ?? '') : link
  const title = `Delete: ${topics.length === 1 ? name : counted(topics.length, 'mirror')}`
  if (outcomes.value)
    return (
      <Dialog title={title} close={close} foot={<Button onClick={close}>Close</Button>}>
        <p role="status">
          {numberText([...outcomes.value.values()].filter(error => error === undefined).length)} of{' '}
          {numberText(possible.length)} deleted.
        </p>
        <ul class="steps">
          {[...outcomes.value].map(([topic, error]) => (
            <li key={topic}>
              <code>{topic}</code>
              {error === undefined ? 'deleted' : <span class="bad-text">{error}</span>}
            </li>
          ))}
        </ul>
      </Dialog>
    )
  return (
    <Dialog
      title={title}
      close={close}
      foot={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button tone="danger" disabled={!isConfirmed.value || possible.length === 0} onClick={remove}>
            Delete {possible.length > 1 ? counted(possible.length, 'topic') : ''}
          </Button>
        </>
      }
    >
      <p>{textOf('delete').what}</p>
      <h3>Dry run: nothing has been changed yet</h3>
      <Failure error={dry.error.value} />
      {losses ? <Losses losses={losses} /> : dry.error.value ? null : <Nothing>Asking the node…</Nothing>}
      {possible.length > 0 ? <TypedName name={name} isConfirmed={isConfirmed} /> : null}
    </Dialog>
  )
}

function Losses({ losses }: { readonly losses: readonly Loss[] }) {
  const possible = losses.filter(({ refusal }) => refusal === undefined)
  const sum = (of: (loss: Loss) => number) => possible.reduce((total, loss) => total + of(loss), 0)
  return (
    <>
      <ul class="toll">
        <li class="calm">
          <strong>{numberText(possible.length)}</strong>
          <span>{possible.length === 1 ? 'topic' : 'topics'}</span>
        </li>
        <li class="calm">
          <strong>{numberText(sum(({ partitions }) => partitions))}</strong>
          <span>partitions</span>
        </li>
        <li class="bad">
          <strong>{numberText(sum(({ offsets }) => offsets))}</strong>
          <span>records at most, deleted here</span>
        </li>
      </ul>
      {losses.flatMap(({ topic, warnings, refusal }) => [
        ...(refusal === undefined
          ? []
          : [
              <Notice key={topic} tone="bad">
                {topic}: {refusal}
              </Notice>,
            ]),
        ...warnings.map(warning => (
          <Notice key={`${topic} ${warning}`} tone="warn">
            {warning}
          </Notice>
        )),
      ])}
    </>
  )
}

/** A browser has no room for thousands of questions at once. */
const AT_ONCE = 20

async function lossesOf(link: string, topics: readonly string[], signal: AbortSignal): Promise<readonly Loss[]> {
  const losses: Loss[] = []
  for (let at = 0; at < topics.length; at += AT_ONCE)
    losses.push(...(await Promise.all(topics.slice(at, at + AT_ONCE).map(topic => lossOf(link, topic, signal)))))
  return losses
}

async function lossOf(link: string, topic: string, signal: AbortSignal): Promise<Loss> {
  const mirror = await call<MirrorData>('GET', mirrorPath(link, topic), { signal })
  const offsets = mirror.mirror_lags.reduce(
    (sum, lag) => sum + Math.max(0, (lag.log_end_offset ?? 0) - (lag.log_start_offset ?? 0)),
    0,
  )
  const found = { topic, partitions: mirror.num_partitions, offsets }
  try {
    const query = { report: 'true', validate_only: 'true' }
    const { warnings } = await call<TopicDeletionReport>('DELETE', clusterPath('topics', topic), { query, signal })
    return { ...found, warnings, refusal: undefined }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { ...found, warnings: [], refusal: error.message }
  }
}
