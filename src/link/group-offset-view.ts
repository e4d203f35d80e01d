/** Offsets of groups as the engine tells them to REST; part of its API. */
/** The offset of one group in one partition of a topic that is mirrored, as the group offset sync sees it. */
export interface GroupOffsetView {
  readonly group: string
  readonly sourceGroup: string
  /** REMOTE_MIRROR: the topic is this cluster's own, and the group reads the peer's mirror of it. */
  readonly topicType: 'LOCAL_MIRROR' | 'REMOTE_MIRROR'
  readonly topic: string
  readonly partition: number
  readonly sourceOffset: number
  /** What the link wrote last, and when; null = nothing since the node started. */
  readonly syncedOffset: number | null
  readonly syncedTimeMs: number | null
  readonly clamped: boolean
  readonly state: 'SYNCED' | 'SYNCED_BY_PEER' | 'IN_USE' | 'CONFLICT' | 'WAITING' | 'OTHER_TYPE' | 'FAILED'
  readonly reason: string | null
}
