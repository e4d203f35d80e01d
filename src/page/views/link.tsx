/** One link: how it is, its mirrors, tasks, configuration, groups and ACLs. The frame shows it for `#/links/…`. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { LinkData } from '../../rest/schemas/links.ts'
import { LinkActions } from '../actions/link-actions.tsx'
import { links } from '../live/cluster-state.ts'
import { followMirrors } from '../live/mirror-rows.ts'
import { linkHref } from '../live/problems.ts'
import { Moment } from '../parts/moment.tsx'
import { Failure, Nothing, Notice } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'
import { numberText } from '../text/figures.ts'
import { LinkAcls } from './link-acls.tsx'
import { LinkConfiguration } from './link-configuration.tsx'
import { LinkGroups } from './link-groups.tsx'
import { LinkMirrors } from './link-mirrors.tsx'
import { LinkTasks } from './link-tasks.tsx'
import { CopyFigures, MirrorCounts, remoteOf } from './overview.tsx'

const TABS = [
  { tab: 'mirrors', text: 'Mirrors' },
  { tab: 'tasks', text: 'Tasks' },
  { tab: 'configuration', text: 'Configuration' },
  { tab: 'groups', text: 'Groups' },
  { tab: 'acls', text: 'ACLs' },
] as const

interface LinkViewProps {
  readonly name: string
  readonly tab: string
  readonly status: string | undefined
}

export function LinkView({ name, tab, status }: LinkViewProps) {
  const link = links.value?.find(each => each.link_name === name)
  const error = useSignal<unknown>(undefined)
  useEffect(() => followMirrors(name, problem => (error.value = problem)), [name, error])
  if (!link)
    return links.value === undefined ? (
      <Nothing>Asking the node…</Nothing>
    ) : (
      <Notice tone="warn">There is no link {name} any more.</Notice>
    )
  return (
    <div class="stack">
      <div class="heading">
        <div>
          <p class="crumbs">
            <a href="#/">Overview</a> / Link
          </p>
          <div class="title-line">
            <h1>{name}</h1>
            <Status value={link.link_state} />
          </div>
        </div>
        <LinkActions link={link} />
      </div>
      {link.link_error === 'NO_ERROR' ? null : (
        <Notice tone={link.link_state === 'ACTIVE' ? 'warn' : 'bad'}>
          <strong>{link.link_error}</strong> since <Moment ms={link.link_error_time_ms} />: {link.link_error_message}
        </Notice>
      )}
      <Figures link={link} />
      <nav class="tabs" aria-label="Parts of the link">
        {TABS.map(each => (
          <a
            key={each.tab}
            href={`${linkHref(name)}/${each.tab}`}
            {...(each.tab === tab ? { 'aria-current': 'page' as const } : {})}
          >
            {each.text}
            <TabCount link={link} tab={each.tab} />
          </a>
        ))}
      </nav>
      <Failure error={error.value} />
      <Part link={link} tab={tab} status={status} />
    </div>
  )
}

function TabCount({ link, tab }: { readonly link: LinkData; readonly tab: string }) {
  if (tab === 'mirrors') return <span class="tab-count">{numberText(link.topic_names.length)}</span>
  const errors = tab === 'tasks' ? (link.tasks ?? []).filter(task => task.errors.length > 0).length : 0
  return errors > 0 ? <span class="tab-count bad">{errors} in error</span> : null
}

function Part({
  link,
  tab,
  status,
}: {
  readonly link: LinkData
  readonly tab: string
  readonly status: string | undefined
}) {
  const { link_name: name } = link
  switch (tab) {
    case 'tasks':
      return <LinkTasks link={link} />
    case 'configuration':
      return <LinkConfiguration link={name} />
    case 'groups':
      return <LinkGroups link={name} />
    case 'acls':
      return <LinkAcls link={name} />
    default:
      return <LinkMirrors key={name} link={name} status={status} />
  }
}

function Figures({ link }: { readonly link: LinkData }) {
  return (
    <div class="card link-figures">
      <dl class="figures">
        <div>
          <dt>Source cluster</dt>
          <dd>{remoteOf(link) === null ? 'not seen yet' : <code>{remoteOf(link)}</code>}</dd>
        </div>
        <CopyFigures link={link} />
      </dl>
      <MirrorCounts link={link} />
    </div>
  )
}
