// Mirrors of a real Apache Kafka 4.3.1 equal their source, byte for byte and record by record.
import { mirrorScenarios } from '../scenarios/mirror-scenarios.ts'

mirrorScenarios('4.3.1')
