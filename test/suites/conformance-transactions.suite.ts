// Transactions of Java producers: the same scenarios against Apache Kafka 4.3.1 and against Lockstep.
import { compareScenarios } from '../conformance/compare.ts'
import { transactionScenarios } from '../conformance/transaction-scenarios.ts'

compareScenarios(transactionScenarios)
