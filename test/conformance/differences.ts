// Where Lockstep differs from Apache Kafka 4.3.1 in the conformance scenarios: data with reasons, repeated in docs/skipped-features.md.

const NO_TOKENS = 'delegation tokens are not offered: clients hear that the version is not supported'
const NO_NEW_GROUPS =
  'groups of KIP-848 (group.protocol=consumer) do not exist yet: the consumer fails with UnsupportedVersionException'

/** By `scenario › step`: why the two differ on purpose. A step that is listed and equal fails its suite. */
export const intendedDifferences: Readonly<Record<string, string>> = {
  'the cluster describes itself › tokens': NO_TOKENS,
  'a consumer of the newer group protocol › reads': NO_NEW_GROUPS,
  'a consumer of the newer group protocol › fails': NO_NEW_GROUPS,
}

/** By scenario or `scenario › step`: not there yet. Equal or not, it does not fail; a whole scenario is not run. */
export const pendingDifferences: Readonly<Record<string, string>> = {}
