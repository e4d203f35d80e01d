/** The node's RetentionGate, answered by the link engine: the log start of a mirror with synced retention follows its source. */
import type { WriteStatus } from '../link/ports.ts'
import type { RetentionGate } from '../replica/retention-gate.ts'

export const linkRetentionGate = (statusOf: (topicId: string, topic: string) => WriteStatus): RetentionGate => ({
  mayDelete(topicId, topic) {
    const status = statusOf(topicId, topic)
    if (status.kind !== 'mirror') return status.kind === 'writable'
    // Independent retention: the link copies neither of the two.
    const { copiedConfigs } = status
    return copiedConfigs !== undefined && !copiedConfigs.has('retention.ms') && !copiedConfigs.has('retention.bytes')
  },
})
