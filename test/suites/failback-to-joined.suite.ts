/** The whole way there and back of a standalone node, with a cluster of complete Apache Kafka 4.3.1 that takes over from it, joined by a node. */
import { testFailback } from '../scenarios/failback-scenarios.ts'

testFailback({ east: 'standalone', west: 'joined', kills: 3 })
