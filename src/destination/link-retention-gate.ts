/** The node's RetentionGate, answered by the link engine: the log start of a mirror with synced retention follows its source. */
import { retentionLimits } from '../core/retention-limits.ts'
import type { WriteStatus } from '../link/ports.ts'
import type { TrueTopicConfigs } from '../metadata/config-resolution.ts'
import type { RetentionGate } from '../replica/retention-gate.ts'

/** `trueConfigs`: of mirrors that carry a write fence, whose retention is parked. Where none is set nothing is deleted: defaults are each broker's own. */
export const linkRetentionGate = (
  statusOf: (topicId: string, topic: string) => WriteStatus,
  trueConfigs: TrueTopicConfigs,
): RetentionGate => ({
  mayDelete(topicId, topic) {
    const status = statusOf(topicId, topic)
    if (status.kind !== 'mirror') return status.kind === 'writable'
    // Independent retention: the link copies neither of the two.
    const { copiedConfigs } = status
    return copiedConfigs !== undefined && !copiedConfigs.has('retention.ms') && !copiedConfigs.has('retention.bytes')
  },
  limitsOf(topicId) {
    const meant = trueConfigs(topicId)
    return meant && retentionLimits(key => meant.get(key))
  },
})
