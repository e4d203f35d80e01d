// Kafka's own tools for groups, transactions, ACLs, records and logs: the same runs at Apache Kafka 4.3.1 and at Lockstep.
import { clientToolScenarios } from '../conformance/client-tool-scenarios.ts'
import { compareScenarios } from '../conformance/compare.ts'
import { groupToolScenarios } from '../conformance/group-tool-scenarios.ts'

compareScenarios([...groupToolScenarios, ...clientToolScenarios], {
  properties: {
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:ANONYMOUS',
  },
})
