/** promote.suite.ts once more, from Kafka 3.9.2 into a Kafka 4.3.1 cluster with TLS, logins and ACLs that the node has joined. */
process.env['LOCKSTEP_SOURCE_VERSION'] = '3.9.2'
process.env['LOCKSTEP_DESTINATION_VERSION'] = '4.3.1'
process.env['LOCKSTEP_DESTINATION_SECURITY'] = 'SASL_SSL'
process.env['LOCKSTEP_DESTINATION_SHAPE'] = '1+3'
await import('./promote.suite.ts')
