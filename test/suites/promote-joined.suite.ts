/** promote.suite.ts once more, into a Kafka 4.3.1 cluster that the node has joined. */
process.env['LOCKSTEP_DESTINATION_VERSION'] = '4.3.1'
await import('./promote.suite.ts')
