/** Can this node open what the links of the cluster keep secret? One that cannot must not be the link coordinator. Asked by the coordinatorship. */
import type { DesiredState } from '../replay/desired-state.ts'
import { type SecretBox, sealedParts } from '../secret-box.ts'

/** Why not, in words; undefined = it can, as far as the state tells. */
export function secretKeyObstacle(
  desired: Pick<DesiredState, 'secretKeyId' | 'links'>,
  secrets: Pick<SecretBox, 'knows'> | undefined,
): string | undefined {
  const texts = [...desired.links()].flatMap(({ configs }) => [...configs.values()])
  const sealed = texts.flatMap(text => sealedParts(text)?.keyId ?? [])
  const used = new Set([...(desired.secretKeyId === undefined ? [] : [desired.secretKeyId]), ...sealed])
  const missing = [...used].filter(id => secrets?.knows(id) !== true)
  if (missing.length === 0) return undefined
  return `the links of this cluster are kept with key ${missing.join(', ')}, which lockstep.secret.key.file of this node does not have: give all nodes the same keys`
}
