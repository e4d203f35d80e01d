/** Every table of src/protocol in one list, for tests that walk all messages in all versions. */
import { allApis } from '../api-registry.ts'
import { ControlRecordTypeSchema } from '../control-records/control-record-type.ts'
import { EndTxnMarker } from '../control-records/end-txn-marker.ts'
import { groupRecordList, shareRecordList, transactionRecordList } from '../coordinator-records/record-list.ts'
import { ProducerSnapshot } from '../log-files/producer-snapshot.ts'
import { ConsumerProtocolAssignment } from '../messages/consumer-protocol-assignment.ts'
import { ConsumerProtocolSubscription } from '../messages/consumer-protocol-subscription.ts'
import { DefaultPrincipalData } from '../messages/default-principal.ts'
import { RequestHeader, ResponseHeader } from '../messages/header.ts'
import { metadataRecordTables } from '../metadata-records/record-list.ts'
import { KRaftVersionRecord } from '../raft-records/kraft-version.ts'
import { LeaderChangeMessage } from '../raft-records/leader-change.ts'
import { QuorumStateData } from '../raft-records/quorum-state.ts'
import { SnapshotFooterRecord } from '../raft-records/snapshot-footer.ts'
import { SnapshotHeaderRecord } from '../raft-records/snapshot-header.ts'
import { VotersRecord } from '../raft-records/voters.ts'
import type { Message } from '../schema/message.ts'
import type { MessageShape } from '../schema/message-shape.ts'

/** A message whose types are not known statically. */
export type AnyMessage = Message<unknown, unknown>

/** All messages of Kafka 4.3 that this project has a table for. */
export const everyMessage: readonly AnyMessage[] = [
  ...allApis.flatMap(({ request, response }) => [request, response]),
  ...Object.values<AnyMessage>(metadataRecordTables),
  ...[...groupRecordList, ...transactionRecordList, ...shareRecordList].flatMap<AnyMessage>(({ key, value }) => [
    key,
    value,
  ]),
  ...[RequestHeader, ResponseHeader, ConsumerProtocolAssignment, ConsumerProtocolSubscription, DefaultPrincipalData],
  ...[ControlRecordTypeSchema, EndTxnMarker, ProducerSnapshot],
  ...[KRaftVersionRecord, LeaderChangeMessage, QuorumStateData, SnapshotFooterRecord],
  ...[SnapshotHeaderRecord, VotersRecord],
]

/** One message in one version. */
export interface MessageVersion extends MessageShape {
  readonly message: AnyMessage
}

/** All messages in all their versions. */
export const everyMessageVersion: readonly MessageVersion[] = everyMessage.flatMap(message => {
  const { name, fields, versions, flexibleFrom } = message
  return Array.from({ length: versions.max - versions.min + 1 }, (_, index) => {
    const version = versions.min + index
    return { message, name, fields, version, flexible: version >= flexibleFrom }
  })
})
