// Share groups (KIP-932): the same scenarios against Apache Kafka 4.3.1 and against Lockstep.
import { compareScenarios } from '../conformance/compare.ts'
import { shareGroupScenarios } from '../conformance/share-group-scenarios.ts'

compareScenarios(shareGroupScenarios, {
  properties: {
    'group.share.heartbeat.interval.ms': '500',
    'group.share.min.heartbeat.interval.ms': '500',
    'share.coordinator.state.topic.num.partitions': '4',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
  },
})
