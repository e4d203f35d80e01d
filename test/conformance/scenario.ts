// The shape of a conformance scenario; the suites run each of them against Apache Kafka and against Lockstep.
import type { Side } from './side.ts'
import type { Transcript } from './transcript.ts'

/** One function that does something to a node and notes what it sees. */
export interface Scenario {
  /** Unique in its suite. */
  readonly name: string
  /** Uses topics, groups and ids of its own, so that the scenarios of a suite do not see each other. */
  readonly run: (side: Side, seen: Transcript) => Promise<void>
}
