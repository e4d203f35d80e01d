/** Why a topic is, or is not, mirrored: each condition with its answer. Asked for on demand, in the view of a mirror. */
import { useSignal } from '@preact/signals'
import type { MirrorExplanation as Explanation } from '../../rest/schemas/source-topics.ts'
import { call } from '../api/api-client.ts'
import { mirrorPath } from '../api/paths.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'
import { statusWords } from '../text/figures.ts'

const OF_AUTO_CREATE: ReadonlySet<string> = new Set([
  ...['AUTO_CREATE_ENABLED', 'INCLUDED_BY_FILTER', 'NOT_EXCLUDED_BY_FILTER'],
])

export function MirrorExplanation({ link, topic }: { readonly link: string; readonly topic: string }) {
  const found = useSignal<Explanation | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const isAsking = useSignal(false)
  const ask = async () => {
    isAsking.value = true
    try {
      found.value = await call<Explanation>('GET', mirrorPath(link, topic, 'explain'))
      error.value = undefined
    } catch (problem) {
      error.value = problem
    }
    isAsking.value = false
  }
  // What auto-create would say matters only as long as nobody has created the mirror.
  const isMirrored = found.value?.mirrored === true
  const toneValue = (answer: string, name: string) => {
    if (answer !== 'NO') return answer
    return isMirrored && OF_AUTO_CREATE.has(name) ? 'SKIPPED' : 'FAILED'
  }
  return (
    <section class="card padded stack tight" aria-label="Explanation">
      <div class="row-line">
        <h2>Why it is mirrored</h2>
        <Button disabled={isAsking.value} onClick={ask}>
          Explain
        </Button>
      </div>
      <Failure error={error.value} />
      {found.value ? (
        <div role="status" class="stack tight">
          <p>
            <strong>{found.value.conclusion}</strong>
          </p>
          <ul class="checks">
            {found.value.conditions.map(({ name, answer, detail, hint }) => (
              <li key={name}>
                <Status value={toneValue(answer, name)} text={statusWords(answer)} />
                <div>
                  {detail}
                  {hint === null ? null : <p class="muted">{hint}</p>}
                </div>
              </li>
            ))}
          </ul>
        </div>
      ) : null}
    </section>
  )
}
