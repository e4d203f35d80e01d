/** May ordinary clients write a topic? What the write gate of the destination answers from, for every produce request. */

import type { Uuid } from '../../core/uuid.ts'
import { LinkConfigs } from '../configs/link-configs.ts'
import { copiedTopicConfigs, isNeverMirrored } from '../configs/topic-rules.ts'
import { admitsWriters } from '../fence/fenced-mirror.ts'
import type { WriteStatus } from '../ports.ts'
import type { DesiredState } from '../replay/desired-state.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { isOrdinaryLog, isWritable } from '../states/mirror-topic-state.ts'

const writable: WriteStatus = { kind: 'writable' }

export function writeStatus(
  state: { desired: DesiredState; replayed: boolean },
  { topicId, topic }: { topicId: string; topic: string },
): WriteStatus {
  const { desired, replayed } = state
  if (isNeverMirrored(topic)) return writable
  if (!replayed)
    return { kind: 'unknown', message: `Whether topic '${topic}' is a mirror is not known yet; try again in a moment.` }
  for (const record of desired.mirrorsOfTopic(topicId as Uuid)) {
    if (admitsWriters(record)) return { kind: 'writable', isStaged: true }
    if (!isWritable(record.state)) return fenced(desired, record)
  }
  const creation = desired.creationOf(topic)
  if (creation) {
    const link = desired.link(creation.linkId)?.name ?? creation.linkId
    return mirror(`Topic '${topic}' is being created as a mirror of link '${link}'; only that link writes it.`)
  }
  const unreadable = desired.unreadableMirror(topic)
  if (unreadable) return mirror(`Topic '${topic}' may be a mirror, and may not be written: ${unreadable.reason}.`)
  return writable
}

function fenced(desired: DesiredState, record: MirrorRecord): WriteStatus {
  const link = desired.link(record.linkId)
  const message =
    `Topic '${record.mirrorTopic}' is a mirror of link '${link?.name ?? record.linkId}' (${record.state}) and read-only; ` +
    'promote it or fail it over to write to it.'
  return {
    ...mirror(message),
    takesMarkers: isOrdinaryLog(record.state) && record.reversal?.closed !== true,
    copiedConfigs: link ? copiedTopicConfigs(new LinkConfigs(link.configs)) : undefined,
  }
}

const mirror = (message: string) =>
  ({ kind: 'mirror', message, takesMarkers: false, copiedConfigs: undefined }) as const
