/** shapes.suite.ts once more, with a Kafka 3.9.2 cluster that its node has joined in the middle: as destination, and as source of another. */
process.env['LOCKSTEP_DESTINATION_VERSION'] = '3.9.2'
await import('./shapes.suite.ts')
