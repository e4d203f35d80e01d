// What the client programs of the suites write and read, in one shape so that clients can be compared.

/** A record as text. */
export interface ClientRecord {
  readonly key: string | null
  readonly value: string | null
  readonly headers: readonly (readonly [string, string | null])[]
  /** Milliseconds since 1970. */
  readonly timestamp: number
}

/** A record with its place. */
export interface PlacedRecord extends ClientRecord {
  readonly partition: number
  readonly offset: number
}

export type Codec = 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd'

export type Isolation = 'read_committed' | 'read_uncommitted'

/** How a client secures its connection and who it says it is; files are PEM. */
export interface ClientSecurity {
  readonly protocol: 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL'
  readonly caFile: string
  readonly certificateFile?: string
  readonly keyFile?: string
  readonly mechanism?: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'
  readonly user?: string
  readonly password?: string
}

/** Where clients connect to a cluster; without `login` they need not log in. */
export interface ClientPlace {
  readonly bootstrap: string
  readonly login?: ClientSecurity | undefined
}

/** One call of a writer: every record goes to partition 0. */
export interface WriteRequest {
  readonly bootstrap: string
  readonly topic: string
  readonly codec: Codec
  readonly acks: 'all' | '1'
  readonly idempotent: boolean
  readonly records: readonly ClientRecord[]
  readonly security?: ClientSecurity | undefined
  /** How long librdkafka tries; it takes a refused login for an outage. If given, others do not try again. */
  readonly patienceMs?: number
}

/** A call of a transactional writer: one transaction after the other, every record goes to partition 0. */
export interface TransactionsRequest {
  readonly bootstrap: string
  readonly topic: string
  readonly transactionalId: string
  readonly transactions: readonly { readonly values: readonly string[]; readonly commit: boolean }[]
}

/** A program that writes in transactions. */
export interface TransactionalWriter {
  readonly name: string
  readonly write: (request: TransactionsRequest) => Promise<void>
}

/** A program that writes. */
export interface ClientWriter {
  readonly name: string
  readonly codecs: readonly Codec[]
  readonly idempotent: boolean
  readonly write: (request: WriteRequest) => Promise<void>
}

/** A program that reads a whole topic. */
export interface ClientReader {
  readonly name: string
  /** It shows a header without value as one with an empty value. */
  readonly hidesNullHeaders?: true
  readonly read: (place: ClientPlace, topic: string, isolation: Isolation) => Promise<PlacedRecord[]>
}

/** By partition, then by offset. */
export function inOrder(records: readonly PlacedRecord[]): PlacedRecord[] {
  return [...records].sort((left, right) => left.partition - right.partition || left.offset - right.offset)
}
