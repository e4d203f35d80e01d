/** The whole way there and back of a cluster of complete Apache Kafka 4.3.1 that a node has joined, with a standalone node that takes over from it. */
import { testFailback } from '../scenarios/failback-scenarios.ts'

testFailback({ east: 'joined', west: 'standalone', kills: 3 })
