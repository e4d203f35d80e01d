// Consumer groups of Java clients: the same scenarios against Apache Kafka 4.3.1 and against Lockstep.
import { compareScenarios } from '../conformance/compare.ts'
import { groupScenarios } from '../conformance/group-scenarios.ts'
import { offsetScenarios } from '../conformance/offset-scenarios.ts'

compareScenarios([...groupScenarios, ...offsetScenarios])
