/** Comparing a mirror with its source, batch by batch: begun, watched, cancelled. In the view of a mirror. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { VerificationData } from '../../rest/schemas/verification.ts'
import { call } from '../api/api-client.ts'
import { linkPath, mirrorVerbPath } from '../api/paths.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'
import { byteText, numberText } from '../text/figures.ts'

const PERIOD_MS = 500

export function MirrorVerification({ link, topic }: { readonly link: string; readonly topic: string }) {
  const found = useSignal<VerificationData | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const ask = async (question: Promise<VerificationData>) => {
    try {
      found.value = await question
      error.value = undefined
    } catch (problem) {
      error.value = problem
    }
  }
  const at = (id: string) => linkPath(link, 'verifications', id)
  const { verification_id: id, state } = found.value ?? {}
  useEffect(() => {
    if (id === undefined || state !== 'RUNNING') return
    const timer = setTimeout(() => void ask(call('GET', at(id))), PERIOD_MS)
    return () => clearTimeout(timer)
  }, [found.value])
  return (
    <section class="card padded stack tight" aria-label="Verification">
      <div class="row-line">
        <h2>Equal to its source?</h2>
        {state === 'RUNNING' && id !== undefined ? (
          <Button onClick={() => ask(call('DELETE', at(id)))}>Cancel</Button>
        ) : (
          <Button
            onClick={() => ask(call('POST', mirrorVerbPath(link, 'verify'), { body: { mirror_topic_names: [topic] } }))}
          >
            Verify
          </Button>
        )}
      </div>
      <Failure error={error.value} />
      {found.value ? <Result data={found.value} /> : <p class="muted">Compares every batch that both ends have.</p>}
    </section>
  )
}

function Result({ data }: { readonly data: VerificationData }) {
  const partitions = data.topics.flatMap(topic => topic.partitions)
  const told = partitions.filter(({ difference, message }) => difference !== null || message !== null)
  return (
    <div class="stack tight">
      <div class="title-line" role="status">
        <Status value={data.outcome ?? data.state} />
        <span>
          {data.compared_records > 0 ? `${numberText(data.compared_records)} records, ` : ''}
          {numberText(data.compared_batches)} batches, {byteText(data.compared_bytes)} compared
        </span>
      </div>
      <progress max={Math.max(1, data.total_offsets)} value={data.done_offsets} aria-label="Offsets compared" />
      {data.topics.map(topic =>
        topic.error_message === null ? null : (
          <p key={topic.mirror_topic_name} class="bad-text">
            {topic.error_message}
          </p>
        ),
      )}
      <ul>
        {told.map(({ partition, difference, message }) => (
          <li key={partition} class={difference ? 'bad-text' : 'muted'}>
            Partition {partition}: {difference ? `offset ${difference.offset}: ${difference.message}` : message}
          </li>
        ))}
      </ul>
    </div>
  )
}
