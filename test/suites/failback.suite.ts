/** The whole way there and back under load of Java, librdkafka and KafkaJS between two standalone nodes. */
import { testFailback } from '../scenarios/failback-scenarios.ts'

testFailback({ east: 'standalone', west: 'standalone', kills: 3 })
