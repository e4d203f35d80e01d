// A node that has joined an Apache Kafka cluster: mirrors of a real Kafka equal their source on it and on every broker that follows.
import { mirrorScenarios } from '../scenarios/mirror-scenarios.ts'

mirrorScenarios('4.3.1', { destination: '4.3.1' })
