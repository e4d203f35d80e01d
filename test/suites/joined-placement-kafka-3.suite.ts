/** joined-placement.suite.ts once more, in a cluster of Apache Kafka 3.9.2, which cannot cordon a broker. */
process.env['LOCKSTEP_CLUSTER_VERSION'] = '3.9.2'
await import('./joined-placement.suite.ts')
