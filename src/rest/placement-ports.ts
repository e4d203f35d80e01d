/** Where partitions live in a cluster that Lockstep nodes have joined, as REST tells and changes it. Routes call it, adapters in `node/` implement it. */

/** A partition and where its replicas are to be, the preferred leader first. */
export interface MovedPartitionView {
  readonly topic: string
  readonly partition: number
  readonly from: readonly number[]
  readonly to: readonly number[]
  /** Who is to lead copies the partition first. */
  readonly copies: boolean
  /** Why it was refused; null = accepted, or only planned. */
  readonly error: string | null
}

/** A partition of somebody else on a Lockstep node. */
export interface ForeignPartitionView {
  readonly topic: string
  readonly partition: number
  readonly replicas: readonly number[]
  readonly leader: number
  readonly sinceMs: number
  /** 'leaving', 'waiting', 'stuck' or 'other-node'. */
  readonly state: string
  readonly attempts: number
  readonly error: string | null
}

/** A partition of a mirror, or of Lockstep's own topics, that its preferred node does not lead. */
export interface MisplacedPartitionView {
  readonly topic: string
  readonly partition: number
  /** As in docs/joining.md: LED_BY_KAFKA, LED_BY_STAND_IN, WITHOUT_LEADER, OFF_LOCKSTEP, NOT_PREFERRED. */
  readonly condition: string
  readonly replicas: readonly number[]
  readonly leader: number
  readonly sinceMs: number
  /** Why it is not brought back now. */
  readonly reason: string | null
}

export interface MoveOptions {
  /** Tells what would be done. */
  readonly validateOnly: boolean
}

/** Everything rejects with an OperationalError where it is not possible, having changed nothing. */
export interface PlacementAdmin {
  /** The node leads these mirrors from now on. Unknown topics are left out. */
  move(
    request: { readonly node: number; readonly topics: readonly string[]; readonly partition: number | undefined },
    options: MoveOptions,
  ): Promise<readonly MovedPartitionView[]>
  /** Moves everything of Lockstep's away from the node, which gets nothing new until `resume`. */
  drain(node: number, options: MoveOptions): Promise<readonly MovedPartitionView[]>
  resume(node: number): Promise<void>
  foreignPartitions(): readonly ForeignPartitionView[]
  misplacedPartitions(): readonly MisplacedPartitionView[]
}
