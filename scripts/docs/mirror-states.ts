/** docs/generated/mirror-states.md: the state table of mirror topics, as a table and as a diagram. */

import { mirrorTopicErrors } from '../../src/link/states/mirror-topic-error.ts'
import {
  allowedVerbs,
  followsSource,
  holdsMirrorLog,
  isWritable,
  type MirrorTopicEvent,
  type MirrorTopicState,
  mirrorTopicTable,
  type Outcome,
  outcomeOf,
} from '../../src/link/states/mirror-topic-state.ts'
import { code, type Page, table, yesNo } from './markdown.ts'

/** Every event and what it is; the compiler sees to it that none is missing. */
const EVENTS: Record<MirrorTopicEvent, string> = {
  create: 'somebody, or auto-create, makes a mirror of a source topic',
  pause: 'somebody asks to stop fetching for a while',
  resume: 'somebody asks to fetch again',
  promote: 'somebody asks for the planned end of mirroring, with nothing missing',
  caughtUp: 'the engine has done what the state was waiting for',
  failover: 'somebody asks for the end of mirroring now, with whatever is missing',
  fail: 'the engine cannot continue by itself',
  reverse: 'somebody asks to turn the direction round',
  restore: 'somebody asks to truncate to the last common offset and mirror again',
  peerReverses: 'the cluster that mirrors this topic turns the direction round',
  peerWithdraws: 'the source of a reverse is to stay the source',
  delete: 'somebody deletes the topic',
}

const OUTCOMES: Record<Exclude<Outcome['kind'], 'to'>, { readonly cell: string; readonly meaning: string }> = {
  same: { cell: 'same', meaning: 'accepted, nothing changes' },
  hold: { cell: 'held', meaning: 'the state stays, the flag `held` is set' },
  unhold: { cell: 'continues', meaning: 'the state stays, the flag `held` is cleared' },
  'active-or-paused': { cell: 'ACTIVE or PAUSED', meaning: 'PAUSED where the verb that led here asked for it' },
  'as-before': { cell: 'as before', meaning: 'STOPPED where the topic had been a mirror before, else none' },
  'failed-from': { cell: 'as it failed', meaning: 'the state that it failed from; a promote resumes as ACTIVE' },
  'already-stopped': { cell: 'refused: already stopped', meaning: 'refused, since the verb has done its work' },
}

const states = Object.keys(mirrorTopicTable) as MirrorTopicState[]
const events = Object.keys(EVENTS) as MirrorTopicEvent[]

/** The page. */
export function mirrorStatesPage(): Page {
  return {
    name: 'mirror-states.md',
    title: 'States of a mirror topic',
    sources: ['src/link/states/mirror-topic-state.ts', 'src/link/states/mirror-topic-error.ts'],
    body: [
      '`none` stands for an ordinary topic or no topic. An empty cell means that the pair is refused, with the state, the verb and the verbs that are possible in the message.',
      table(['state', ...events.map(code)], states.map(stateRow)),
      table(
        ['event', 'what it is'],
        events.map(event => [code(event), EVENTS[event]]),
      ),
      table(
        ['outcome', 'meaning'],
        Object.values(OUTCOMES).map(({ cell, meaning }) => [cell, meaning]),
      ),
      '## Diagram\n\nWithout `delete`, which is possible in every state.',
      `\`\`\`mermaid\n${diagram()}\n\`\`\``,
      '## What a state means',
      table(
        ['state', 'clients may write', 'follows its source', 'its log is a copy', '`allowed_actions`'],
        states.map(state => [
          code(state),
          yesNo(isWritable(state)),
          yesNo(followsSource(state)),
          yesNo(holdsMirrorLog(state)),
          state === 'none' ? '' : allowedVerbs(state).map(code).join(', '),
        ]),
      ),
      'Shown instead of ACTIVE while it lasts: `LINK_PAUSED`, `LINK_FAILED`, `SOURCE_UNAVAILABLE`.',
      `## Mirror topic errors\n\n\`mirror_topic_error\` is one of ${mirrorTopicErrors.map(code).join(', ')}.`,
    ].join('\n\n'),
  }
}

function stateRow(state: MirrorTopicState): string[] {
  return [
    code(state),
    ...events.map(event => {
      const outcome = outcomeOf(state, event)
      if (outcome === undefined) return ''
      return outcome.kind === 'to' ? outcome.state : OUTCOMES[outcome.kind].cell
    }),
  ]
}

/** Events between the same two states share one arrow. */
function diagram(): string {
  const arrows = new Map<string, string[]>()
  for (const state of states)
    for (const event of events)
      for (const { target, when } of event === 'delete' ? [] : targets(outcomeOf(state, event))) {
        const arrow = `${nodeOf(state)} --> ${nodeOf(target)}`
        arrows.set(arrow, [...(arrows.get(arrow) ?? []), when === '' ? event : `${event} (${when})`])
      }
  return ['stateDiagram-v2', ...[...arrows].map(([arrow, labels]) => `  ${arrow}: ${labels.join(', ')}`)].join('\n')
}

const nodeOf = (state: MirrorTopicState): string => (state === 'none' ? '[*]' : state)

function targets(outcome: Outcome | undefined): { target: MirrorTopicState; when: string }[] {
  switch (outcome?.kind) {
    case 'to':
      return [{ target: outcome.state, when: '' }]
    case 'active-or-paused':
      return [
        { target: 'ACTIVE', when: '' },
        { target: 'PAUSED', when: 'as asked for' },
      ]
    case 'as-before':
      return [
        { target: 'STOPPED', when: 'was a mirror' },
        { target: 'none', when: 'was none' },
      ]
    case 'failed-from':
      return [{ target: 'ACTIVE', when: 'or the state it failed from' }]
    default:
      return []
  }
}
