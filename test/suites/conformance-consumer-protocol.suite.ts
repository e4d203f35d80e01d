// Consumer groups of KIP-848: the same scenarios against Apache Kafka 4.3.1 and against Lockstep.
import { compareScenarios } from '../conformance/compare.ts'
import { consumerProtocolScenarios } from '../conformance/consumer-protocol-scenarios.ts'

compareScenarios(consumerProtocolScenarios)
