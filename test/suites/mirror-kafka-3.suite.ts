// Mirrors of a real Apache Kafka 3.9.2 equal their source, byte for byte and record by record.
import { mirrorScenarios } from '../scenarios/mirror-scenarios.ts'

mirrorScenarios('3.9.2')
