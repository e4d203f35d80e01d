/** auto-create.suite.ts once more, with Apache Kafka 3.9.2 as the source. */
process.env['LOCKSTEP_SOURCE_VERSION'] = '3.9.2'
await import('./auto-create.suite.ts')
