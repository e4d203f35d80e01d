/** The commands of the controller about SCRAM credentials; part of the Controller port, asked by AlterUserScramCredentials. */
import type { ApiError } from './api-error.ts'

/** Mechanisms are numbers of the wire: 1 = SCRAM-SHA-256, 2 = SCRAM-SHA-512. */
export interface ScramDeletion {
  readonly name: string
  readonly mechanism: number
}

/** The password comes salted: it never leaves the client. */
export interface ScramUpsertion extends ScramDeletion {
  readonly iterations: number
  readonly salt: Buffer
  readonly saltedPassword: Buffer
}

export interface ScramCommands {
  /** One result per user; a user that is named twice is refused, the others are not. */
  alterCredentials(
    deletions: readonly ScramDeletion[],
    upsertions: readonly ScramUpsertion[],
  ): Promise<(ApiError & { readonly user: string })[]>
}
