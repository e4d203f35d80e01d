/**
 * When a mirror stops, no offset that its link wrote for a group lies beyond the log's end: the log may have lost data since, in a
 * crash of the machine or a truncation (semantics §3 failover). Called by stop-mirror.
 */
import { messageOf } from '../../core/errors.ts'
import { mapBounded } from '../coordination/bounded.ts'
import { placeText } from '../groups/plan-group.ts'
import type { GroupOffset } from '../ports.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import type { OperationContext } from './operation-context.ts'

/** Groups that are looked at at the same time. */
const parallel = 8

/** `ends`: index = partition. Whatever goes wrong with a group is logged: a stop does not wait for it. */
export async function clampGroupOffsets(
  context: OperationContext,
  { linkId, mirrorTopic }: Pick<MirrorRecord, 'linkId' | 'mirrorTopic'>,
  ends: readonly number[],
): Promise<void> {
  const turns = context.runtime(linkId)?.groupStates.turns ?? context.operations
  const isBeyond = (partition: number, offset: number) => offset > (ends[partition] ?? offset)
  await mapBounded(context.desired.groupsWrittenBy(linkId), parallel, async group => {
    const ours = context.desired.groupOffsets(linkId, group).filter(({ topic, partition, ...own }) => {
      return topic === mirrorTopic && isBeyond(partition, Math.max(own.offset, own.previousOffset))
    })
    if (ours.length === 0) return
    const own = new Map(ours.map(written => [placeText(written), written]))
    const clamped = ({ partition, ...rest }: GroupOffset) => ({
      ...rest,
      partition,
      offset: ends[partition] ?? rest.offset,
    })
    try {
      await turns.run(group, async () => {
        const found = await context.destination.groupOffsets(group)
        if (found.kind !== 'offsets') throw new Error(found.message)
        const lost = found.offsets.filter(({ offset, ...place }) => {
          const written = own.get(placeText(place))
          const isOurs = offset === written?.offset || offset === written?.previousOffset
          return isOurs && isBeyond(place.partition, offset)
        })
        if (lost.length === 0) return
        const outcome = await context.destination.commitGroupOffsets(group, lost.map(clamped))
        if (outcome.kind !== 'committed') throw new Error(`refused: ${outcome.kind}`)
        context.logger.warn('offsets of a group beyond the end of a stopped mirror were set to it', {
          ...{ group, topic: mirrorTopic, partitions: lost.length },
        })
      })
    } catch (error) {
      context.logger.warn('offsets of a group may lie beyond the end of a stopped mirror', {
        ...{ group, topic: mirrorTopic, error: messageOf(error) },
      })
    }
  })
}
