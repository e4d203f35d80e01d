/** Settings of the connections of a link, as the source needs them; part of the ports. */

/** `security.protocol`, `sasl.*` and `ssl.*` of a link as texts: secrets sealed, references as they are. */
export type SecurityTexts = Readonly<Record<string, string>>

/** Connection settings of a link (the parsed link properties that concern the connection). */
export interface SourceConnectionSettings {
  readonly bootstrapServers: readonly string[]
  /** Pinned id of the remote cluster: when another cluster answers, every question fails with 'cluster-id'. */
  readonly clusterId: string | undefined
  readonly clientId: string
  readonly requestTimeoutMs: number
  readonly connectTimeoutMs: number
  /** What the connect timeout of an address grows to while it fails (KIP-601). */
  readonly connectTimeoutMaxMs: number
  /** Bound of a question with all its repetitions. */
  readonly apiTimeoutMs: number
  /** Connections on which nothing is asked for so long are closed; below 0 = never. */
  readonly idleMsMax: number
  /** client.dns.lookup */
  readonly bootstrapLookup: 'use_all_dns_ips' | 'resolve_canonical_bootstrap_servers_only'
  readonly metadataMaxAgeMs: number
  readonly retryBackoffMs: number
  readonly security: SecurityTexts
  readonly fetch: {
    readonly connectionsPerBroker: number
    readonly partitionBytesMax: number
    readonly responseBytesMax: number
    readonly minBytes: number
    readonly waitMaxMs: number
    readonly backoffMs: number
    readonly inFlightBytesMax: number
    /** How long the answer to a fetch is waited for, beyond the wait that was asked for. */
    readonly timeoutMs: number
  }
}
