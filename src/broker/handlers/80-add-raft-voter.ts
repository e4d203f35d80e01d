/**
 * AddRaftVoter (80), versions 0–1 (KIP-853); the dispatch table calls it.
 *
 * 0: baseline. 1: when to answer.
 *
 * The quorum of a standalone node is this node alone (kraft.version 0): UNSUPPORTED_VERSION, as Kafka answers for quorums whose
 * voters are fixed. The id of another cluster is INCONSISTENT_CLUSTER_ID.
 */
import { AddRaftVoterApi } from '../../protocol/messages/80-add-raft-voter.ts'
import { handlerOf } from '../handler.ts'
import { fixedVoters } from '../quorum-voters.ts'

export const addRaftVoter = handlerOf(AddRaftVoterApi, {
  versions: { min: 0, max: 1 },
  handle: (broker, { clusterId }, origin) => fixedVoters(broker, origin, clusterId),
  failed: (_request, errorCode) => ({ throttleTimeMs: 0, errorCode, errorMessage: null }),
})
