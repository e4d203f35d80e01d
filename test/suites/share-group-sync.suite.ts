/** Share groups of a real Kafka continue on a standalone node, after a failover. */
import { shareGroupScenarios } from '../scenarios/share-group-scenarios.ts'

shareGroupScenarios({ stop: 'failover' })
