/** The broker's WriteGate, answered by the link engine: mirrors are written by their link alone. */
import type { WriteStatus } from '../link/ports.ts'
import { ErrorCode } from '../protocol/errors.ts'
import type { ClientWrite, WriteGate, WriteRefusal } from '../replica/write-gate.ts'

/** Topics that only this node writes. */
const ownTopics: ReadonlySet<string> = new Set(['__lockstep_state', '__lockstep_status'])

/** Topic configs by which records of such a topic could be lost. */
const losingConfigs: ReadonlySet<string> = new Set(['cleanup.policy', 'retention.ms', 'retention.bytes'])

/** What differs where other brokers are in the cluster. */
export interface AmongBrokers {
  /** Own topics that other nodes of the cluster write as clients do; who may is for ACLs to say. */
  readonly producedTo: ReadonlySet<string>
  /** Topic configs by which the write fence keeps clients of those brokers from mirrors. */
  readonly parkedConfigs: ReadonlySet<string>
}

const alone: AmongBrokers = { producedTo: new Set(), parkedConfigs: new Set() }

export function linkWriteGate(
  statusOf: (topicId: string, topic: string) => WriteStatus,
  { producedTo, parkedConfigs }: AmongBrokers = alone,
): WriteGate {
  return {
    refusal(topicId, topic, write) {
      if (write === 'produce' && producedTo.has(topic)) return undefined
      if (ownTopics.has(topic)) return refusalOfOwn(topic, write)
      // Every state of a mirror may be deleted.
      if (write === 'delete-topic') return undefined
      const status = statusOf(topicId, topic)
      switch (status.kind) {
        case 'writable':
          return undefined
        case 'unknown':
          return { errorCode: retriableCode(write), message: status.message }
        case 'mirror':
          return refusalOfMirror(status, write, parkedConfigs)
      }
    },
  }
}

/** A topic's record may not be known yet; each kind of request gets a code that its clients retry. */
const retriableCode = (write: ClientWrite): number =>
  typeof write === 'object' || write === 'create-partitions' || write === 'create-topic'
    ? ErrorCode.REQUEST_TIMED_OUT
    : ErrorCode.NOT_LEADER_OR_FOLLOWER

/** Without its state topic a node takes every mirror for an ordinary topic. */
function refusalOfOwn(topic: string, write: ClientWrite): WriteRefusal | undefined {
  if (typeof write === 'object') {
    const losing = write.alterConfigs.filter(key => losingConfigs.has(key))
    return losing.length === 0
      ? undefined
      : policyViolation(`Topic '${topic}' keeps its records: ${losing.join(', ')} cannot be changed.`)
  }
  return policyViolation(
    write === 'delete-topic'
      ? `Topic '${topic}' holds the links and mirrors of this cluster and cannot be deleted.`
      : `Topic '${topic}' is written by Lockstep alone.`,
  )
}

function refusalOfMirror(
  status: Extract<WriteStatus, { kind: 'mirror' }>,
  write: ClientWrite,
  parkedConfigs: AmongBrokers['parkedConfigs'],
): WriteRefusal | undefined {
  if (write === 'transaction-markers' && status.takesMarkers) return undefined
  if (typeof write !== 'object') return policyViolation(status.message)
  const copied = write.alterConfigs.filter(key => status.copiedConfigs?.has(key) ?? true)
  if (copied.length > 0)
    return policyViolation(`${status.message} Its configs ${copied.join(', ')} are copied from the source.`)
  const parked = write.alterConfigs.filter(key => parkedConfigs.has(key))
  if (parked.length === 0) return undefined
  return policyViolation(
    `${status.message} Until then its configs ${parked.join(', ')} keep clients of other brokers from it, and would be restored.`,
  )
}

const policyViolation = (message: string): WriteRefusal => ({ errorCode: ErrorCode.POLICY_VIOLATION, message })
