// What the matrix of joined destinations runs: which suites, against which clusters, in which order. Used by scripts/test-matrix.ts.

import type { KafkaVersion } from '../kafka/jars.ts'
import type { DestinationSecurity, DestinationShape } from '../scenarios/destination.ts'

/** A Kafka cluster that is joined, and the source of its mirrors. */
export interface Combination {
  readonly destination: KafkaVersion
  readonly shape: DestinationShape
  readonly security: DestinationSecurity
  readonly source: KafkaVersion
}

/** A suite that takes its clusters from the environment. */
export interface MatrixSuite {
  /** Of `test/suites/NAME.suite.ts`. */
  readonly name: string
  /** It runs with every combination, and takes all its sources in one run, each in tests of its own: `from Kafka VERSION`. */
  readonly isExhaustive?: true
  /** Why it has nothing to say about such clusters; undefined = it has. */
  readonly unfit?: (combination: Combination) => string | undefined
}

/** A suite with combinations that differ in the source: one, or several where it takes several. */
export interface PlannedRun {
  readonly suite: MatrixSuite
  readonly combinations: readonly Combination[]
}

const versions = ['4.3.1', '4.1.2', '3.9.2'] as const satisfies readonly KafkaVersion[]
const shapes: readonly DestinationShape[] = ['1+3', 'combined']
const securities: readonly DestinationSecurity[] = ['PLAINTEXT', 'SASL_SSL']

/** Every version as destination and as source, in either shape, with and without security. */
export const allCombinations: readonly Combination[] = versions.flatMap(destination =>
  shapes.flatMap(shape =>
    securities.flatMap(security => versions.map(source => ({ destination, shape, security, source }))),
  ),
)

const row = (
  source: KafkaVersion,
  destination: KafkaVersion,
  [shape, security]: readonly [DestinationShape, DestinationSecurity],
): Combination => ({ source, destination, shape, security })

/** The fewest in which any two values of different columns meet. */
const coveringCombinations: readonly Combination[] = [
  row('4.3.1', '4.3.1', ['combined', 'SASL_SSL']),
  row('4.1.2', '3.9.2', ['combined', 'SASL_SSL']),
  row('3.9.2', '4.1.2', ['1+3', 'SASL_SSL']),
  row('4.3.1', '3.9.2', ['1+3', 'PLAINTEXT']),
  row('4.1.2', '4.1.2', ['combined', 'PLAINTEXT']),
  row('3.9.2', '4.3.1', ['1+3', 'SASL_SSL']),
  row('4.3.1', '4.1.2', ['1+3', 'SASL_SSL']),
  row('4.1.2', '4.3.1', ['1+3', 'PLAINTEXT']),
  row('3.9.2', '3.9.2', ['combined', 'PLAINTEXT']),
]

/** Share groups are for use from 4.2 on. */
const withoutShareGroups = ({ destination, source }: Combination) =>
  destination === '4.3.1' && source === '4.3.1' ? undefined : 'no share groups'

/** Those that tell most first. */
export const matrixSuites: readonly MatrixSuite[] = [
  { name: 'mirror-joined', isExhaustive: true },
  { name: 'promote' },
  { name: 'kill-loop' },
  { name: 'clients' },
  { name: 'source-brokers' },
  { name: 'verify' },
  { name: 'incidents' },
  { name: 'group-sync' },
  { name: 'shapes' },
  { name: 'acl-sync' },
  { name: 'auto-create' },
  { name: 'link-settings' },
  { name: 'share-group-sync', unfit: withoutShareGroups },
]

/** So many of the covering ones in a row have every version on both sides. */
const SHARE = 3

/** With which combinations a suite that is not exhaustive runs: every version on both sides, and with the suites before and after it any two values. */
function shareOf(suite: MatrixSuite, index: number): readonly Combination[] {
  const isFit = (combination: Combination) => suite.unfit?.(combination) === undefined
  const at = (index * SHARE) % coveringCombinations.length
  const share = coveringCombinations.slice(at, at + SHARE).filter(isFit)
  return share.length > 0 ? share : coveringCombinations.filter(isFit).slice(0, SHARE)
}

/**
 * Exhaustive suites with all combinations, then the others with some in which any two values meet, or with all. Of the latter each
 * suite comes once before any comes again, so that a part of the plan tells most.
 */
export function plannedRuns({ isFull }: { readonly isFull: boolean }): readonly PlannedRun[] {
  const exhaustive = matrixSuites.filter(suite => suite.isExhaustive)
  const others = matrixSuites
    .filter(suite => !suite.isExhaustive)
    .map((suite, index) => ({
      suite,
      combinations: isFull ? allCombinations.filter(each => !suite.unfit?.(each)) : shareOf(suite, index),
    }))
  const rounds = allCombinations.flatMap((_, round) =>
    others.flatMap(({ suite, combinations }) => {
      const combination = combinations[round]
      return combination ? [{ suite, combinations: [combination] }] : []
    }),
  )
  const isSameCluster = (left: Combination, right: Combination) =>
    nameOf({ ...left, source: versions[0] }) === nameOf({ ...right, source: versions[0] })
  const clusters = [...coveringCombinations, ...allCombinations].filter(
    (combination, index, all) => all.findIndex(other => isSameCluster(combination, other)) === index,
  )
  return [
    ...exhaustive.flatMap(suite =>
      clusters.map(cluster => ({ suite, combinations: versions.map(source => ({ ...cluster, source })) })),
    ),
    ...rounds,
  ]
}

/** How reports name it. */
export const nameOf = ({ destination, shape, security, source }: Combination): string =>
  `${source} → ${destination} ${shape}${security === 'PLAINTEXT' ? '' : ` ${security}`}`
