// Kafka's own tools for administrators against Apache Kafka 4.3.1 and against Lockstep: what they print is compared.
import { adminToolScenarios } from '../conformance/admin-tool-scenarios.ts'
import { compareScenarios } from '../conformance/compare.ts'

compareScenarios(adminToolScenarios)
