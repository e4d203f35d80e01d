/** group-sync.suite.ts once more, into a cluster of three Kafka 4.1.2 nodes that are broker and controller. */
process.env['LOCKSTEP_SOURCE_VERSION'] = '4.1.2'
process.env['LOCKSTEP_DESTINATION_VERSION'] = '4.1.2'
process.env['LOCKSTEP_DESTINATION_SHAPE'] = 'combined'
await import('./group-sync.suite.ts')
