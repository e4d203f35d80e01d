/** The command that changes SCRAM credentials (KIP-554, KIP-900). Pure; the local controller exposes it as `scram`. */
import type { ApiError } from '../../metadata/controller-port.ts'
import { type MetadataImage, scramCredentialKey } from '../../metadata/metadata-image.ts'
import type { ScramCommands, ScramDeletion, ScramUpsertion } from '../../metadata/scram-commands.ts'
import {
  SCRAM_ITERATIONS_MAX,
  SCRAM_ITERATIONS_MIN,
  SCRAM_MECHANISMS,
  type ScramCredential,
  type ScramMechanism,
  scramKeys,
} from '../../network/login/scram.ts'
import { type MetadataRecordInput, MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import { accepted, type Decision, refused } from './decision.ts'

/** Runs a decision on the image that the command before it left behind. */
type RunCommand = <A>(decide: (image: MetadataImage) => Decision<A>) => Promise<A>

export const localScramCommands = (run: RunCommand): ScramCommands => ({
  alterCredentials: (deletions, upsertions) => run(image => alterScramCredentials(image, { deletions, upsertions })),
})

/** The mechanism of a number of the wire. */
export const scramMechanism = (type: number): ScramMechanism | undefined => SCRAM_MECHANISMS[type - 1]

/** First metadata.version with credentials in it: 3.5-IV2. */
const SCRAM_LEVEL_MIN = 11

interface Change {
  readonly problem: ApiError | undefined
  readonly record: () => MetadataRecordInput
}

export function alterScramCredentials(
  image: MetadataImage,
  asked: { readonly deletions: readonly ScramDeletion[]; readonly upsertions: readonly ScramUpsertion[] },
): Decision<(ApiError & { readonly user: string })[]> {
  const changes = new Map<string, Change>()
  const add = (user: string, change: Change): void => {
    const before = changes.get(user)
    const twice = refused('DUPLICATE_RESOURCE', 'A user credential cannot be altered twice in the same request')
    changes.set(user, before ? { ...before, problem: before.problem ?? twice } : change)
  }
  const unsupported = (image.features.get('metadata.version') ?? 0) < SCRAM_LEVEL_MIN ? tooOld : undefined
  for (const deletion of asked.deletions)
    add(deletion.name, {
      problem: unsupported ?? deletionProblem(image, deletion),
      record: () => ({ type: MetadataRecordType.RemoveUserScramCredential, version: 0, value: deletion }),
    })
  for (const upsertion of asked.upsertions)
    add(upsertion.name, {
      problem: unsupported ?? upsertionProblem(upsertion),
      record: () => upsertionRecord(upsertion),
    })
  const all = [...changes]
  return {
    records: all.flatMap(([, { problem, record }]) => (problem ? [] : [record()])),
    answer: all.map(([user, { problem }]) => ({ user, ...(problem ?? accepted) })),
  }
}

const tooOld = refused('UNSUPPORTED_VERSION', 'The current metadata.version does not support SCRAM')

function nameProblem({ name, mechanism }: ScramDeletion): ApiError | undefined {
  if (name === '') return refused('UNACCEPTABLE_CREDENTIAL', 'Username must not be empty')
  return scramMechanism(mechanism) ? undefined : refused('UNSUPPORTED_SASL_MECHANISM', 'Unknown SCRAM mechanism')
}

function deletionProblem(image: MetadataImage, deletion: ScramDeletion): ApiError | undefined {
  const problem = nameProblem(deletion)
  if (problem) return problem
  if (image.scramCredentials.has(scramCredentialKey(deletion.name, deletion.mechanism))) return undefined
  return refused('RESOURCE_NOT_FOUND', 'Attempt to delete a user credential that does not exist')
}

function upsertionProblem(upsertion: ScramUpsertion): ApiError | undefined {
  const problem = nameProblem(upsertion)
  if (problem) return problem
  if (upsertion.iterations < SCRAM_ITERATIONS_MIN) return refused('UNACCEPTABLE_CREDENTIAL', 'Too few iterations')
  if (upsertion.iterations > SCRAM_ITERATIONS_MAX) return refused('UNACCEPTABLE_CREDENTIAL', 'Too many iterations')
  return undefined
}

function upsertionRecord({ name, mechanism, salt, iterations, saltedPassword }: ScramUpsertion): MetadataRecordInput {
  const { storedKey, serverKey } = scramKeys(scramMechanism(mechanism) ?? 'SCRAM-SHA-256', saltedPassword)
  return scramCredentialRecord(name, mechanism, { salt, iterations, storedKey, serverKey })
}

/** @param mechanism number of the wire */
export const scramCredentialRecord = (
  name: string,
  mechanism: number,
  { salt, storedKey, serverKey, iterations }: ScramCredential,
): MetadataRecordInput => ({
  type: MetadataRecordType.UserScramCredential,
  version: 0,
  value: { name, mechanism, salt, storedKey, serverKey, iterations },
})
