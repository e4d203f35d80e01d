/** Share groups of a real Kafka continue in an Apache Kafka cluster that a node has joined, after a promote. */
import { shareGroupScenarios } from '../scenarios/share-group-scenarios.ts'

shareGroupScenarios({ destination: { version: '4.3.1' }, stop: 'promote' })
