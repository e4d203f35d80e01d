// What the matrix of joined destinations runs: which suites, and against which clusters. Used by scripts/test-matrix.ts.

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
  /** Why it has nothing to say about such clusters; undefined = it has. */
  readonly unfit?: (combination: Combination) => string | undefined
}

const versions: readonly KafkaVersion[] = ['4.3.1', '4.1.2', '3.9.2']
const shapes: readonly DestinationShape[] = ['1+3', 'combined']

const securities: readonly DestinationSecurity[] = ['PLAINTEXT', 'SASL_SSL']

/** Every version as destination and as source, in either shape, with and without security. */
export const combinations: readonly Combination[] = versions.flatMap(destination =>
  shapes.flatMap(shape =>
    securities.flatMap(security => versions.map(source => ({ destination, shape, security, source }))),
  ),
)

const withoutLogins = ({ security }: Combination) => (security === 'SASL_SSL' ? 'its clients do not log in' : undefined)

/** Share groups are for use from 4.2 on. */
const withoutShareGroups = (combination: Combination) =>
  combination.destination === '4.3.1' && combination.source === '4.3.1' ? withoutLogins(combination) : 'no share groups'

export const matrixSuites: readonly MatrixSuite[] = [
  { name: 'mirror-joined' },
  { name: 'promote' },
  { name: 'group-sync' },
  { name: 'incidents' },
  { name: 'kill-loop' },
  { name: 'verify' },
  { name: 'auto-create' },
  { name: 'source-brokers' },
  { name: 'shapes' },
  { name: 'acl-sync', unfit: withoutLogins },
  { name: 'link-settings' },
  { name: 'clients', unfit: withoutLogins },
  { name: 'share-group-sync', unfit: withoutShareGroups },
]

/** How reports name it. */
export const nameOf = ({ destination, shape, security, source }: Combination): string =>
  `${source} → ${destination} ${shape}${security === 'PLAINTEXT' ? '' : ` ${security}`}`
