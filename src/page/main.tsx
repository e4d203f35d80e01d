/** The operator's page: begins to follow the cluster and shows the view that the address names. Loaded by index.html. */
import { effect } from '@preact/signals'
import { render } from 'preact'
import { loginCount, loginWanted } from './api/api-client.ts'
import { clusterId } from './api/paths.ts'
import { followCluster, links, nodes } from './live/cluster-state.ts'
import { problemsOf } from './live/problems.ts'
import { Frame } from './parts/frame.tsx'
import { followAddress, place } from './place.ts'
import './styles/tokens.css'
import './styles/base.css'
import './styles/parts.css'
import './styles/views.css'
import { EventsView } from './views/events.tsx'
import { LinkView } from './views/link.tsx'
import { LoginView } from './views/login.tsx'
import { MirrorView } from './views/mirror.tsx'
import { NodesView } from './views/nodes.tsx'
import { Overview } from './views/overview.tsx'

function Page() {
  if (loginWanted.value !== undefined) return <LoginView />
  return (
    <Frame>
      <View />
    </Frame>
  )
}

function View() {
  const at = place.value
  // What is below the cluster can be asked for only once it has told its id.
  if (clusterId.value === undefined) return <Overview />
  switch (at.view) {
    case 'link':
      return <LinkView name={at.link} tab={at.tab} status={at.status} />
    case 'mirror':
      return <MirrorView link={at.link} topic={at.topic} />
    case 'nodes':
      return <NodesView />
    case 'events':
      return <EventsView />
    default:
      return <Overview />
  }
}

followAddress()
// Whoever logs in may see something else: everything begins anew.
effect(() => {
  void loginCount.value
  const ended = new AbortController()
  void followCluster(ended.signal)
  return () => ended.abort()
})
// Tabs beside others show at a glance whether something is wrong.
effect(() => {
  const count = problemsOf(links.value ?? [], nodes.value).length
  const at = place.value
  const where = at.view === 'link' ? at.link : at.view === 'mirror' ? at.topic : ''
  document.title = `${count > 0 ? `(${count}) ` : ''}${where === '' ? '' : `${where} · `}Lockstep`
})
render(<Page />, document.body)
