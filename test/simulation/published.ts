/** Does a reader of `__lockstep_status` know what the state says? Asked by the checks when everything has healed. */
import type { StateRecord } from '../../src/link/ports.ts'
import type { DesiredState } from '../../src/link/replay/desired-state.ts'
import { decodeStatusRecord } from '../../src/link/status/status-codec.ts'
import { StatusContents } from '../../src/link/status/status-contents.ts'

/** The first difference; undefined = there is none. */
export function publishedDifference(records: readonly StateRecord[], state: DesiredState): string | undefined {
  const contents = new StatusContents()
  const topics = new Set<string>()
  for (const record of records) {
    const change = decodeStatusRecord(record)
    contents.apply(change)
    if (change.kind === 'mirror') topics.add(change.record.mirrorTopic)
  }
  for (const topic of [...state.mirrors()].map(({ mirrorTopic }) => mirrorTopic)) topics.add(topic)
  for (const topic of topics) {
    const there = contents.mirrorsNamed(topic).map(({ topicId, state: found }) => {
      const points = contents.stopPoints(topicId).map(({ partition, stopOffset }) => `${partition}:${stopOffset}`)
      return [topicId, found, ...points].join(' ')
    })
    const here = [...state.mirrors()].flatMap(({ mirrorTopic, topicId, state: wanted, stopPoints }) => {
      const points = stopPoints.map(({ partition, stopOffset }) => `${partition}:${stopOffset}`)
      return mirrorTopic === topic ? [[topicId, wanted, ...points].join(' ')] : []
    })
    if (there.sort().join() !== here.sort().join()) return `${topic}: ${there} rather than ${here}`
  }
  return undefined
}
