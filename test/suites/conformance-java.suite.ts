// Java Admin, producers and consumers: the same scenarios against Apache Kafka 4.3.1 and against Lockstep.
import { clusterScenarios } from '../conformance/cluster-scenarios.ts'
import { compareScenarios } from '../conformance/compare.ts'
import { producerScenarios } from '../conformance/producer-scenarios.ts'
import { topicScenarios } from '../conformance/topic-scenarios.ts'

compareScenarios([...topicScenarios, ...clusterScenarios, ...producerScenarios])
