/** ChainCheck: what is behind each mirror, from what the source publishes; loops that came to be later are told (decision 8). Run by the link's tasks. */
import type { Destination } from '../ports.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { followsSource, isOrdinaryLog } from '../states/mirror-topic-state.ts'
import { type KnownChains, sourceHop } from '../status/known-chains.ts'
import { chainOf, chainText, type MirrorChain, mirrorChain, type SourceStatusView } from '../status/source-chain.ts'
import { type TaskError, taskErrorOf } from './sync-task.ts'

/** Chains of n clusters are known everywhere after n of these. */
export const chainCheckPeriodMs = 10_000

export interface ChainCheckParts {
  readonly destination: Pick<Destination, 'clusterId'>
  readonly chains: KnownChains
}

/** One round over the mirrors of a link, the paused ones included. */
export function checkChains(
  { destination, chains }: ChainCheckParts,
  view: SourceStatusView,
  mirrors: readonly MirrorRecord[],
): readonly TaskError[] {
  const errors: TaskError[] = []
  for (const mirror of mirrors) {
    if (changesRoles(mirror)) continue
    const topic = { name: mirror.sourceTopic, topicId: mirror.sourceTopicId }
    const behind = chainOf(view, topic)
    // What was known stays known where it cannot be asked; where nothing is published any more nothing is known.
    if (behind.kind !== 'unknown' || behind.why === 'absent') {
      const place = { clusterId: destination.clusterId, topic: mirror.mirrorTopic, topicId: mirror.topicId }
      chains.learn(mirror, mirrorChain(place, sourceHop(mirror), behind))
    }
    const chain = chains.of(mirror)
    if (chain.isLoop) errors.push({ code: 'POLICY_VIOLATION_ERROR', message: loopMessage(mirror.mirrorTopic, chain) })
  }
  return [...errors, ...readingErrors(view)]
}

/** Both ends of a reverse are mirrors of each other until one of them has taken over. */
const changesRoles = ({ state, reversal }: MirrorRecord): boolean =>
  reversal !== undefined && (isOrdinaryLog(state) || (followsSource(state) && state !== 'ACTIVE'))

export const loopMessage = (mirrorTopic: string, { hops }: MirrorChain): string =>
  `${mirrorTopic} is in a loop of mirrors, in which nobody can write and nothing new comes: its source is ${chainText(hops)}; fail one of them over`

function readingErrors(view: SourceStatusView): TaskError[] {
  if (view.kind === 'failed') return [taskErrorOf(view.error, '__lockstep_status of the source')]
  if (view.kind !== 'read') return []
  return view.contents.problems.map(problem => ({
    code: 'INVALID_REQUEST_ERROR',
    message: `__lockstep_status of the source: ${problem}`,
  }))
}
