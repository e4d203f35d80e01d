/** Rounds of a sync one after the other, also where several tasks want them; used by the link's tasks. */
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import type { TaskError } from './sync-task.ts'

/** One round of a task over mirrors of one link. */
export type Round = (mirrors: readonly MirrorRecord[], signal: AbortSignal) => Promise<readonly TaskError[]>

/**
 * What a round read at the source grows old while it runs: two at a time could write the older value last. Whoever asks while
 * one runs is served by the next, together with everybody else who waits; it reads the source anew.
 * `current`: the record of a mirror as it is when its round begins; undefined = it is synced no more.
 */
export function mergedRounds(round: Round, current: (record: MirrorRecord) => MirrorRecord | undefined): Round {
  let last: Promise<unknown> = Promise.resolve()
  let next: { readonly mirrors: Map<string, MirrorRecord>; readonly result: Promise<readonly TaskError[]> } | undefined
  return (mirrors, signal) => {
    if (!next) {
      const asked = new Map<string, MirrorRecord>()
      const result = last.then(async () => {
        next = undefined
        signal.throwIfAborted()
        const synced = [...asked.values()].flatMap(record => current(record) ?? [])
        return synced.length === 0 ? [] : await round(synced, signal)
      })
      next = { mirrors: asked, result }
      // Its callers are told when it fails; those who come later only wait for its end.
      last = result.catch(() => {})
    }
    for (const record of mirrors) next.mirrors.set(record.topicId, record)
    return next.result
  }
}
