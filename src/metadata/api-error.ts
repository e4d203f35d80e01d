/** How commands of the Controller port say that one part of them was refused. */

/** Kafka error code (0 = none) with the text for the person who asked. */
export interface ApiError {
  readonly errorCode: number
  readonly errorMessage: string | null
}
