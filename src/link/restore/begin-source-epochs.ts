/** Where the source epochs of a partition begin that becomes a mirror with what is in it. Called by restores, behind the cut, and by the old source of a reverse. */
import type { MirrorLog } from '../ports.ts'
import type { EngineParts } from '../runtime/engine-parts.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { sourceEpochsStateRecord } from '../state-records/record-codec.ts'

/**
 * What was recorded of an earlier time as a mirror of that cluster does not count any more: what is here may be this cluster's own,
 * with epochs of the other one's mirror. Where others may lead, everything up to the last batch counts as mirrored. Durable when it
 * resolves; may be repeated. `sourceEpoch`: of the last batch that both have, at the source; undefined = nothing of it is left there.
 */
export async function beginSourceEpochs(
  { desired, journal, destination }: Pick<EngineParts, 'desired' | 'journal' | 'destination'>,
  { topicId, sourceClusterId }: MirrorRecord,
  of: { readonly partition: number; readonly log: MirrorLog; readonly sourceEpoch: number | undefined },
): Promise<void> {
  const { partition, log, sourceEpoch } = of
  const { logStartOffset, lastEpoch } = await log.refresh()
  const ranges = sourceEpoch === undefined ? [] : [{ epoch: sourceEpoch, firstOffset: logStartOffset }]
  const known = desired.ledEpochs(topicId, partition, sourceClusterId)
  const ledEpochs =
    destination.fence.hasOtherLeaders && lastEpoch !== undefined
      ? [...known.filter(epoch => epoch < lastEpoch), lastEpoch]
      : known
  await journal.append([sourceEpochsStateRecord({ topicId, partition, sourceClusterId, ranges, ledEpochs })])
}
