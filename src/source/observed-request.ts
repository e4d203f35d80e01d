/** What is told of each answer of a source, for the figures of the node. */

/** A request that was answered. */
export interface ObservedRequest {
  /** As the link introduces itself. */
  readonly clientId: string
  /** Name of the request, as in Kafka's definitions. */
  readonly api: string
  readonly ms: number
}
