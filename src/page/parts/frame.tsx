/** What is around every view: where one can go, whether the figures are live, light or dark, leaving. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { isLoggedIn, logOut } from '../api/api-client.ts'
import { feedState, lastHeardMs } from '../api/event-feed.ts'
import { clusterId } from '../api/paths.ts'
import { refreshedMs, trouble } from '../live/cluster-state.ts'
import { place } from '../place.ts'
import { durationText } from '../text/figures.ts'
import { Button } from './button.tsx'
import { changeTheme, theme } from './theme.ts'

/** Without a word of the node for so long, figures are not what is. */
const OLD_MS = 20_000

const VIEWS = [
  { view: 'overview', href: '#/', text: 'Overview' },
  { view: 'nodes', href: '#/nodes', text: 'Nodes' },
  { view: 'events', href: '#/events', text: 'Events' },
] as const

export function Frame({ children }: { readonly children: ComponentChildren }) {
  const { view } = place.value
  const shown = view === 'link' || view === 'mirror' ? 'overview' : view
  return (
    <>
      <button type="button" class="skip" onClick={toContent}>
        Skip to content
      </button>
      <header class="bar">
        <a class="brand" href="#/">
          <Mark />
          <span>Lockstep</span>
        </a>
        <nav aria-label="Views">
          {VIEWS.map(each => (
            <a key={each.view} href={each.href} {...(each.view === shown ? { 'aria-current': 'page' as const } : {})}>
              {each.text}
            </a>
          ))}
        </nav>
        <span class="bar-end">
          <span class="cluster-id" title="Id of this cluster">
            {clusterId.value}
          </span>
          <Liveness />
          <Button tone="quiet" label={`Colours: ${theme.value}`} onClick={changeTheme}>
            <ThemeSign />
          </Button>
          {isLoggedIn() ? (
            <Button tone="quiet" onClick={logOut}>
              Log out
            </Button>
          ) : null}
        </span>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </>
  )
}

/** The address behind # says where one is, so this cannot be a link. */
function toContent(): void {
  document.getElementById('content')?.focus()
}

/** Live, or for how long the figures have been old. */
function Liveness() {
  const nowMs = useSignal(Date.now())
  useEffect(() => {
    const timer = setInterval(() => (nowMs.value = Date.now()), 1000)
    return () => clearInterval(timer)
  }, [nowMs])
  // Where links cannot be told, their figures are as old as the last answer, whatever the feed says.
  const knownMs = trouble.value === undefined ? lastHeardMs.value : Math.min(lastHeardMs.value, refreshedMs.value)
  const ageMs = Math.max(0, nowMs.value - knownMs)
  const isLive = feedState.value === 'live' && ageMs < OLD_MS && trouble.value === undefined
  useEffect(() => {
    document.documentElement.toggleAttribute('data-old', !isLive)
  }, [isLive])
  const isFirst = feedState.value === 'connecting'
  return (
    <>
      {/* Who listens is told once that figures are old, and not every second how old. */}
      <span role="status" class="hidden">
        {isLive ? 'Figures are live' : isFirst ? 'Connecting to the node' : 'Figures are old'}
      </span>
      {isLive ? (
        <span class="live">Live</span>
      ) : (
        <span class="live old" title={trouble.value ?? 'The node does not answer; it is tried again.'}>
          {isFirst ? 'Connecting' : `Figures are ${durationText(Math.max(ageMs, 1000))} old`}
        </span>
      )}
    </>
  )
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true" class="mark">
      <rect x="3" y="3" width="18" height="18" rx="5" />
      <rect x="11" y="11" width="18" height="18" rx="5" />
    </svg>
  )
}

function ThemeSign() {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" class="sign">
      <circle cx="8" cy="8" r="6" />
      <path d="M8 2a6 6 0 0 1 0 12z" />
    </svg>
  )
}
