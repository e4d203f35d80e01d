/** Fetches a metadata snapshot from the active controller (FetchSnapshot, KIP-630); the observer asks for it when the log does not reach back far enough. */
import { offsetFromWire, offsetToWire } from '../../core/offset.ts'
import type { Uuid } from '../../core/uuid.ts'
import { CLUSTER_METADATA_TOPIC } from '../../metadata/topic-names.ts'
import type { BrokerConnection } from '../../network/broker-connection.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { FetchSnapshotApi } from '../../protocol/messages/59-fetch-snapshot.ts'
import { readSnapshot, type SnapshotContents } from '../snapshot-batches.ts'

/** Per answer. */
const PIECE_BYTES = 4 * 1024 * 1024
/** A million partitions are about 100 MiB; a larger snapshot is refused before it fills the memory. */
const SNAPSHOT_BYTES_MAX = 1024 * 1024 * 1024

export interface SnapshotQuestion {
  readonly replicaId: number
  readonly directoryId: Uuid
  readonly clusterId: string | null
  readonly leaderEpoch: number
  readonly id: { readonly offset: number; readonly epoch: number }
}

/** The snapshot cannot be had from here now: it is gone, or this is no leader any more. */
export class SnapshotUnavailable extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SnapshotUnavailable'
  }
}

/** Rejects with ConnectionError, SnapshotUnavailable, SnapshotDamaged, BatchError, DecodeError or the signal's reason. */
export async function downloadSnapshot(
  connection: BrokerConnection,
  question: SnapshotQuestion,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<SnapshotContents> {
  const pieces: Buffer[] = []
  let position = 0
  let size = Number.POSITIVE_INFINITY
  while (position < size) {
    const piece = await nextPiece(connection, { ...question, position }, options)
    if (piece.position !== position)
      throw new SnapshotUnavailable(`a piece at ${piece.position} instead of ${position}`)
    if (piece.size > SNAPSHOT_BYTES_MAX) throw new SnapshotUnavailable(`it has ${piece.size} bytes, which is too much`)
    if (piece.bytes.length === 0 && piece.size > position) throw new SnapshotUnavailable('an empty piece')
    size = piece.size
    position += piece.bytes.length
    pieces.push(Buffer.from(piece.bytes))
  }
  return readSnapshot(Buffer.concat(pieces))
}

async function nextPiece(
  connection: BrokerConnection,
  question: SnapshotQuestion & { readonly position: number },
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<{ position: number; size: number; bytes: Buffer }> {
  const { replicaId, directoryId, clusterId, leaderEpoch, id, position } = question
  const partition = {
    partition: 0,
    currentLeaderEpoch: leaderEpoch,
    snapshotId: { endOffset: offsetToWire(id.offset), epoch: id.epoch },
    position: offsetToWire(position),
    replicaDirectoryId: directoryId,
  }
  const { response } = await connection.send(
    FetchSnapshotApi,
    {
      clusterId,
      replicaId,
      maxBytes: PIECE_BYTES,
      topics: [{ name: CLUSTER_METADATA_TOPIC, partitions: [partition] }],
    },
    options,
  )
  const answer = response.topics[0]?.partitions[0]
  const errorCode = response.errorCode || (answer?.errorCode ?? ErrorCode.UNKNOWN_SERVER_ERROR)
  if (answer === undefined || errorCode !== ErrorCode.NONE) throw new SnapshotUnavailable(errorName(errorCode))
  return {
    position: offsetFromWire(answer.position),
    size: offsetFromWire(answer.size),
    bytes: answer.unalignedRecords ?? Buffer.alloc(0),
  }
}
