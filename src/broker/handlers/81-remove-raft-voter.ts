/** RemoveRaftVoter (81), version 0 (KIP-853); the dispatch table calls it. Refused as AddRaftVoter is. */
import { RemoveRaftVoterApi } from '../../protocol/messages/81-remove-raft-voter.ts'
import { handlerOf } from '../handler.ts'
import { fixedVoters } from '../quorum-voters.ts'

export const removeRaftVoter = handlerOf(RemoveRaftVoterApi, {
  versions: { min: 0, max: 0 },
  handle: (broker, { clusterId }, origin) => fixedVoters(broker, origin, clusterId),
  failed: (_request, errorCode) => ({ throttleTimeMs: 0, errorCode, errorMessage: null }),
})
