/** Port: may clients write this partition? The broker asks; the link destination answers; neither knows the other. */

/** Why a write is refused: the Kafka error code to answer and the sentence that goes with it. */
export interface WriteRefusal {
  /** Kafka error code, e.g. 44 POLICY_VIOLATION, or a retriable code while the answer is not known yet. */
  readonly errorCode: number
  /** Names topic and link, and what to do. */
  readonly message: string
}

/** What a client wants to do to a topic that might be a mirror. */
export type ClientWrite =
  | 'produce'
  /** Of a topic that does not exist; asked with the zero id. */
  | 'create-topic'
  | 'delete-topic'
  | 'delete-records'
  | 'create-partitions'
  | 'transaction-markers'
  | { readonly alterConfigs: readonly string[] }

export interface WriteGate {
  /** undefined = allowed. Answers from memory, synchronously. */
  refusal(topicId: string, topic: string, write: ClientWrite): WriteRefusal | undefined
}

/** The gate of a node without links. */
export const openWriteGate: WriteGate = { refusal: () => undefined }
