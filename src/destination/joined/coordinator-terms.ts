/** Who may ask this node for something as the link coordinator: the leader of `__lockstep_state` in its newest leader epoch that was heard of. Asked for every call of another node. */
import type { PartitionImage } from '../../metadata/metadata-image.ts'

/** What a node says of itself as the link coordinator. */
export interface ClaimedTerm {
  readonly nodeId: number
  /** The leader epoch of the state topic in which it is. */
  readonly term: number
}

export class CoordinatorTerms {
  readonly #state: () => Pick<PartitionImage, 'leader' | 'leaderEpoch'> | undefined
  #newest: ClaimedTerm = { nodeId: -1, term: -1 }

  /** `state`: the partition of the state topic, as the metadata say that this node has. */
  constructor(state: () => Pick<PartitionImage, 'leader' | 'leaderEpoch'> | undefined) {
    this.#state = state
  }

  /** Why that node is not the link coordinator; undefined = it is, and older terms are over from now on. Its metadata may be newer than ours. */
  refusal(claimed: ClaimedTerm): string | undefined {
    const { leader = -1, leaderEpoch = -1 } = this.#state() ?? {}
    const known = leaderEpoch > this.#newest.term ? { nodeId: leader, term: leaderEpoch } : this.#newest
    const { nodeId, term } = claimed
    if (term < known.term) return `term ${term} of node ${nodeId} is over, this node knows of term ${known.term}`
    if (term === known.term && nodeId !== known.nodeId) return `term ${term} is node ${known.nodeId}'s, not ${nodeId}'s`
    this.#newest = claimed
    return undefined
  }
}
