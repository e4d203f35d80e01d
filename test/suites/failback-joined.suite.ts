/** The whole way there and back between two clusters of complete Apache Kafka 4.3.1, each joined by a node. */
import { testFailback } from '../scenarios/failback-scenarios.ts'

testFailback({ east: 'joined', west: 'joined', kills: 4 })
