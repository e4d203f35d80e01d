/** How a client reaches a broker of the benchmark: sides.ts says it, kafka-tools.ts passes it on to Kafka's tools. */

export type Transport = 'plaintext' | 'tls'

export interface Access {
  readonly bootstrap: string
  /** Of the client, in its own words. */
  readonly properties: Readonly<Record<string, string>>
}
