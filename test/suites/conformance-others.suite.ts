// librdkafka, KafkaJS and @platformatic/kafka: the same scenarios against Apache Kafka 4.3.1 and against Lockstep.
import { compareScenarios } from '../conformance/compare.ts'
import { kafkaJsScenarios } from '../conformance/kafkajs-scenarios.ts'
import { librdkafkaScenarios } from '../conformance/librdkafka-scenarios.ts'
import { platformaticScenarios } from '../conformance/platformatic-scenarios.ts'

compareScenarios([...librdkafkaScenarios, ...kafkaJsScenarios, ...platformaticScenarios], {
  tools: ['kcat', 'python'],
  properties: {
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:ANONYMOUS',
  },
})
