/** What has happened to links, mirrors and tasks, as it happens, with a filter. */
import { useComputed, useSignal } from '@preact/signals'
import type { HeardEvent } from '../api/event-feed.ts'
import { happened } from '../live/cluster-state.ts'
import { linkHref, mirrorHref } from '../live/problems.ts'
import { Grid } from '../parts/grid.tsx'
import type { GridColumn } from '../parts/grid-column.ts'
import { Moment } from '../parts/moment.tsx'
import { Status } from '../parts/status.tsx'
import { counted, statusWords } from '../text/figures.ts'

const KINDS = ['state', 'link', 'task'] as const

type StateEvent = Extract<HeardEvent, { type: 'state' }>

interface EventText {
  readonly subject: string
  readonly href: string | undefined
  readonly status: string
  readonly text: string
}

function textOf(event: HeardEvent): EventText {
  switch (event.type) {
    case 'state':
      return {
        subject: event.mirror_topic_name,
        href: mirrorHref(event.link_name, event.mirror_topic_name),
        status: event.mirror_status ?? 'gone',
        text: reasonOf(event),
      }
    case 'link':
      return {
        subject: event.link_name,
        href: linkHref(event.link_name),
        status: event.link_state ?? 'gone',
        text: [event.link_error === 'NO_ERROR' ? null : event.link_error, event.link_error_message]
          .filter(part => part !== null)
          .join(': '),
      }
    case 'task':
      return {
        subject: `${event.task_name} of ${event.link_name}`,
        href: `${linkHref(event.link_name)}/tasks`,
        status: event.state,
        text: event.errors.map(({ error_message: message }) => message).join('; '),
      }
    default:
      return { subject: '', href: undefined, status: event.type, text: event.type === 'missed' ? event.message : '' }
  }
}

/** The reason says what caused a change of state; an incident changes none, and is called by its kind. */
function reasonOf({ event, reason, mirror_status: now, previous_status: before }: StateEvent): string {
  const isIncident = event !== null && now === before
  return [
    ...(isIncident || reason === null ? [statusWords(event ?? '')] : []),
    ...(reason === null ? [] : [reason]),
  ].join(': ')
}

const COLUMNS: readonly GridColumn<HeardEvent>[] = [
  { ...{ name: 'time', head: 'Time', width: '96px' }, show: event => <Moment ms={event.time_ms} /> },
  {
    ...{ name: 'subject', head: 'What', width: 'minmax(0, 1fr)', isTitle: true },
    show: event => {
      const { subject, href } = textOf(event)
      return href === undefined ? (
        <span class="cell-name">{subject}</span>
      ) : (
        <a class="cell-name" href={href} tabIndex={-1}>
          {subject}
        </a>
      )
    },
  },
  {
    ...{ name: 'status', head: 'Now', width: 'minmax(136px, 0.4fr)' },
    show: event => {
      const { status } = textOf(event)
      return status === 'gone' ? <Status value="STOPPED" text="gone" /> : <Status value={status} />
    },
  },
  {
    ...{ name: 'text', head: 'Why', width: 'minmax(0, 1.4fr)', isExtra: true },
    show: event => (
      <span class="cell-name" title={textOf(event).text}>
        {textOf(event).text}
      </span>
    ),
  },
]

export function EventsView() {
  const text = useSignal('')
  const kinds = useSignal<ReadonlySet<string>>(new Set(KINDS))
  const shown = useComputed(() => {
    const part = text.value.trim().toLowerCase()
    return happened.value.filter(event => {
      if (event.type !== 'missed' && !kinds.value.has(event.type)) return false
      const { subject, status, text: why } = textOf(event)
      return part === '' || `${subject} ${status} ${why}`.toLowerCase().includes(part)
    })
  })
  const toggle = (kind: string) => {
    const changed = new Set(kinds.peek())
    if (!changed.delete(kind)) changed.add(kind)
    kinds.value = changed
  }
  return (
    <div class="stack events">
      <div class="heading">
        <h1>Events</h1>
      </div>
      <section class="stack tight" aria-label="Events">
        <div class="tools">
          <input
            type="search"
            class="filter"
            placeholder="Filter by name, state or reason"
            aria-label="Filter events"
            value={text.value}
            onInput={event => (text.value = event.currentTarget.value)}
          />
          {KINDS.map(kind => (
            <label key={kind} class="check">
              <input type="checkbox" checked={kinds.value.has(kind)} onClick={() => toggle(kind)} />
              {{ state: 'Mirrors', link: 'Links', task: 'Tasks' }[kind]}
            </label>
          ))}
          <span class="muted" role="status">
            {counted(shown.value.length, 'event')}
          </span>
        </div>
        <Grid
          label="Events, the newest first"
          rows={shown.value}
          columns={COLUMNS}
          keyOf={event => event.id ?? `${event.type} ${event.time_ms}`}
          none="Nothing has happened since the node started, or nothing matches."
        />
      </section>
    </div>
  )
}
