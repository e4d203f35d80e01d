// A node that has joined an Apache Kafka cluster: mirrors of a real Kafka equal their source on it and on every broker that follows.
import { sourceVersion } from '../kafka/jars.ts'
import { chosenDestination } from '../scenarios/destination.ts'
import { mirrorScenarios } from '../scenarios/mirror-scenarios.ts'

mirrorScenarios(sourceVersion(), { destination: chosenDestination() ?? { version: '4.3.1' } })
