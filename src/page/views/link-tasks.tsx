/** The periodic tasks of a link: state, last success, errors item by item, and running one now. */
import { useSignal } from '@preact/signals'
import type { LinkData } from '../../rest/schemas/links.ts'
import { call } from '../api/api-client.ts'
import { linkPath } from '../api/paths.ts'
import { refreshSoon } from '../live/cluster-state.ts'
import { Button } from '../parts/button.tsx'
import { Moment } from '../parts/moment.tsx'
import { Failure } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'

/** More errors of one task are counted, not listed. */
const ERRORS_SHOWN = 50

type Task = NonNullable<LinkData['tasks']>[number]

export function LinkTasks({ link }: { readonly link: LinkData }) {
  return (
    <ul class="card rows" aria-label="Tasks">
      {(link.tasks ?? []).map(task => (
        <TaskRow key={task.task_name} link={link.link_name} task={task} />
      ))}
    </ul>
  )
}

function TaskRow({ link, task }: { readonly link: string; readonly task: Task }) {
  const error = useSignal<unknown>(undefined)
  const isAsked = useSignal(false)
  const run = async () => {
    isAsked.value = true
    try {
      await call('POST', `${linkPath(link, 'tasks', task.task_name)}:run`)
      error.value = undefined
      refreshSoon()
    } catch (problem) {
      error.value = problem
    }
    isAsked.value = false
  }
  return (
    <li>
      <div class="row-line">
        <div class="title-line">
          <h3>{task.task_name}</h3>
          <Status value={task.state} />
        </div>
        <span class="row-end">
          {task.state === 'NOT_CONFIGURED' ? null : (
            <>
              <span class="muted">
                Last success <Moment ms={task.last_success_ms} none="not since the node started" />
              </span>
              <Button disabled={isAsked.value} label={`Run now: ${task.task_name}`} onClick={run}>
                Run now
              </Button>
            </>
          )}
        </span>
      </div>
      {task.reason === null ? null : <p class="muted">{task.reason}</p>}
      <Failure error={error.value} />
      {task.errors.length === 0 ? null : (
        <ul class="errors">
          {task.errors.slice(0, ERRORS_SHOWN).map(({ error_code: code, error_message: message }) => (
            <li key={`${code} ${message}`}>
              <code>{code}</code> {message}
            </li>
          ))}
          {task.errors.length > ERRORS_SHOWN ? <li>and {task.errors.length - ERRORS_SHOWN} more</li> : null}
        </ul>
      )}
    </li>
  )
}
