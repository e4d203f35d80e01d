// Where Lockstep differs from Apache Kafka 4.3.1 in the conformance scenarios; compare.ts holds that the list is true and documented.

const TOKENS = 'Delegation tokens'

/**
 * By `scenario › step`: the row of docs/skipped-features.md that says why the two differ. A step that is listed and equal
 * fails its suite.
 */
export const intendedDifferences: Readonly<Record<string, string>> = {
  'the cluster describes itself › tokens': TOKENS,
}
