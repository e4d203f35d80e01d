/** The one typed error of the log; replica, controller and node map its kind to a Kafka code, a mirror state or a log line. */

/**
 * What happened:
 * `closed` the log is closed or being deleted;
 * `storage` the file system refused (full disk, I/O error): see `cause`; an append may be tried again unless `failed` is set;
 * `conflict` a compare-and-set append found another log end;
 * `stale-epoch` the leader epoch is older than the newest one in the log;
 * `out-of-order` the batches do not ascend or start below the log end;
 * `corrupt` bytes that are not whole record batches;
 * `too-large` a batch can never fit a segment;
 * `out-of-range` an offset outside of the log was named;
 * `topic-id` the directory belongs to another topic of that name;
 * `identity` the data directory belongs to another cluster or node.
 */
export type LogErrorKind =
  | 'closed'
  | 'storage'
  | 'conflict'
  | 'stale-epoch'
  | 'out-of-order'
  | 'corrupt'
  | 'too-large'
  | 'out-of-range'
  | 'topic-id'
  | 'identity'

/** An expected failure of one partition's log. The message names the partition. */
export class LogError extends Error {
  readonly kind: LogErrorKind
  /** True if this log refuses every write until it is closed and opened again with recovery. */
  readonly failed: boolean

  constructor(kind: LogErrorKind, message: string, options: { cause?: unknown; failed?: boolean } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'LogError'
    this.kind = kind
    this.failed = options.failed ?? false
  }
}

/** The system's code of an error, e.g. ENOENT or ENOSPC; undefined for anything else. */
export const systemCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
