/** What a change of a mirror's record tells; pure, called by the engine for every record that it replays. */
import type { StateEvent } from '../event-api.ts'
import type { MirrorRecord, StateChange } from '../state-records/mirror-record.ts'

/** One event per new entry of the history, and one if the mirror went. `next` undefined = its record is gone. */
export function stateEvents(
  { linkName, nowMs }: { readonly linkName: string; readonly nowMs: number },
  previous: MirrorRecord | undefined,
  next: MirrorRecord | undefined,
): StateEvent[] {
  const common = { type: 'state', linkName } as const
  if (!next) {
    if (!previous) return []
    const gone = { status: null, previousStatus: previous.state, event: 'delete', reason: null, timeMs: nowMs }
    return [{ ...common, mirrorTopicName: previous.mirrorTopic, ...gone }]
  }
  const known = previous?.topicId === next.topicId ? previous.history.at(-1) : undefined
  const from = known ? next.history.findLastIndex(entry => isSame(entry, known)) + 1 : 0
  return next.history.slice(from).map(({ state, event, reason, timeMs }, index) => ({
    ...common,
    mirrorTopicName: next.mirrorTopic,
    status: state,
    previousStatus: next.history[from + index - 1]?.state ?? null,
    ...{ event, reason, timeMs },
  }))
}

const isSame = (a: StateChange, b: StateChange): boolean =>
  a.timeMs === b.timeMs && a.state === b.state && a.event === b.event && a.reason === b.reason
