/** group-sync.suite.ts once more, from Kafka 3.9.2 into a Kafka 4.1.2 cluster that the node has joined. */
process.env['LOCKSTEP_SOURCE_VERSION'] = '3.9.2'
process.env['LOCKSTEP_DESTINATION_VERSION'] = '4.1.2'
await import('./group-sync.suite.ts')
