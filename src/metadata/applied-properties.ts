/** The server properties of Kafka that have an effect in this node (beyond those behind topic configs), with a line of documentation; read by the catalog of broker configs. */
export const appliedProperties: Readonly<Record<string, string>> = {
  'add.partitions.to.txn.retry.backoff.max.ms':
    'How long records of a new transaction wait for the end of the one before.',
  'advertised.listeners': 'Addresses that clients are told; default: the listeners themselves.',
  'allow.everyone.if.no.acl.found': 'May everybody use a resource that no ACL is about?',
  'authorizer.class.name':
    'org.apache.kafka.metadata.authorizer.StandardAuthorizer: clients may do what ACLs allow; absent: everything.',
  'auto.create.topics.enable': 'Create a topic when a client asks for the metadata of one that does not exist.',
  'broker.heartbeat.interval.ms':
    'How often this node sends heartbeats to the controllers of the cluster that is joined.',
  'broker.id': 'Older name of node.id.',
  'broker.rack': 'Rack of this node, as told to clients and to replica placement.',
  'connection.failed.authentication.delay.ms': 'Pause before a failed login is answered and its connection closed.',
  'connections.max.idle.ms': 'Idle time after which a client connection is closed.',
  'connections.max.reauth.ms': 'Time after which a client must log in anew on its connection (KIP-368); 0 = never.',
  'controller.listener.names': 'Listeners of the controller role; a standalone node serves its controller in-process.',
  'controller.quorum.bootstrap.servers': 'Controllers of the cluster to join, as host:port.',
  'controller.quorum.request.timeout.ms': 'How long a controller of the cluster that is joined may take to answer.',
  'controller.quota.window.num': 'Samples that the burst of the quota of mutations is made of.',
  'controller.quota.window.size.seconds': 'Length of such a sample.',
  'controller.quorum.voters':
    'The controller quorum, as id@host:port: of the cluster to join; a standalone node may name only itself.',
  'default.replication.factor': 'Replication factor of topics created without one.',
  'delete.topic.enable': 'May topics be deleted?',
  'fetch.max.bytes': 'Most bytes that one Fetch answer carries.',
  'group.consumer.assignment.interval.ms': 'Shortest time between two assignments of a consumer group (KIP-848).',
  'group.consumer.assignors':
    'Assignors of consumer groups: uniform, range; the first is taken where members do not say.',
  'group.consumer.heartbeat.interval.ms': 'How often members of a consumer group (KIP-848) send heartbeats.',
  'group.consumer.max.size': 'Members of one consumer group (KIP-848).',
  'group.consumer.migration.policy': 'May groups with members change between the classic and the consumer protocol?',
  'group.consumer.regex.refresh.interval.ms': 'How often topics that regular expressions match are looked for anyway.',
  'group.consumer.session.timeout.ms': 'Silence after which a member of a consumer group (KIP-848) is gone.',
  'group.coordinator.rebalance.protocols': 'Is the consumer protocol (KIP-848) offered? The classic one always is.',
  'group.initial.rebalance.delay.ms': 'How long the first member of an empty group waits for others.',
  'group.max.session.timeout.ms': 'Longest session that a member of a classic group may ask for.',
  'group.max.size': 'Members of one classic group.',
  'group.min.session.timeout.ms': 'Shortest session that a member of a classic group may ask for.',
  'group.share.delivery.count.limit': 'How often a record is given to members of a share group at most (KIP-932).',
  'group.share.max.share.sessions': 'Most share sessions, one for each member of a share group.',
  'group.share.partition.max.record.locks': 'Records of a partition that a share group may have in flight.',
  'group.share.record.lock.duration.ms': 'How long a member of a share group may hold a record.',
  'initial.broker.registration.timeout.ms':
    'How long a start waits for the controllers of the cluster that is joined, and for the end of the last session.',
  'inter.broker.listener.name':
    'Listener by which brokers of the cluster that is joined reach each other; a standalone node has none to reach.',
  'listener.security.protocol.map': 'Security protocol of each listener name.',
  listeners: 'Names, hosts and ports to listen on.',
  'log.cleaner.backoff.ms': 'Time between two looks for logs to clean while none is due.',
  'log.cleaner.dedupe.buffer.size': 'Memory for the offsets of keys while logs are cleaned, all threads together.',
  'log.cleaner.enable': 'Clean logs of topics with cleanup.policy=compact?',
  'log.cleaner.io.buffer.load.factor': 'How full the memory for offsets of keys may get.',
  'log.cleaner.io.buffer.size': 'Memory for reading logs that are cleaned, all threads together.',
  'log.cleaner.io.max.bytes.per.second': 'Bytes per second that cleaning reads and writes at most.',
  'log.cleaner.threads': 'Logs cleaned at the same time.',
  'log.dir': 'Data directory, if log.dirs is not set.',
  'log.dirs': 'Data directory (one).',
  'log.retention.check.interval.ms': 'How often old segments are looked for.',
  'max.connection.creation.rate':
    'Connections per second in all, or per listener; more wait. Per address: the client quota connection_creation_rate.',
  'max.connections': 'Connections of clients in all, or per listener; more wait until others close.',
  'max.connections.per.ip': 'Connections from one address; more are closed as they come.',
  'max.connections.per.ip.overrides': 'Other limits for single addresses, as ADDRESS:NUMBER.',
  'max.incremental.fetch.session.cache.slots': 'Fetch sessions that this node keeps for its clients.',
  'metadata.log.dir': 'Directory of the metadata log; default: the data directory.',
  'metadata.log.max.record.bytes.between.snapshots': 'Bytes of metadata log after which a snapshot is written.',
  'metadata.log.max.snapshot.interval.ms': 'Time after which the next change of metadata causes a snapshot; 0 = never.',
  'metadata.log.segment.bytes': 'Size at which the metadata log begins a new segment.',
  'metadata.log.segment.ms': 'Age at which the metadata log begins a new segment.',
  'metadata.max.retention.bytes':
    'Size of metadata log and snapshots above which the oldest go, if a newer snapshot covers them.',
  'metadata.max.retention.ms': 'Age above which metadata snapshots, and the log before the next one, go.',
  'node.id': 'Id of this node in the cluster.',
  'num.partitions': 'Partitions of topics created without a number.',
  'offset.metadata.max.bytes': 'Longest text that may be committed with an offset.',
  'offsets.retention.check.interval.ms': 'How often offsets that have expired are looked for.',
  'offsets.retention.minutes': 'How long offsets of groups without members are kept.',
  'offsets.topic.compression.codec':
    'Compression of what is written to __consumer_offsets (0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd).',
  'offsets.topic.num.partitions': 'Partitions of __consumer_offsets when it is created.',
  'offsets.topic.replication.factor':
    'Replicas of __consumer_offsets when it is created, if there are so many brokers.',
  'offsets.topic.segment.bytes': 'Segment size of __consumer_offsets when it is created.',
  'process.roles': 'broker,controller (or absent) = standalone; broker = joined to a Kafka cluster.',
  'producer.id.expiration.ms': 'Idle time after which the state of an idempotent producer is forgotten.',
  'quota.window.num': 'Samples over which the rates of client quotas are measured.',
  'quota.window.size.seconds': 'Length of such a sample.',
  'queued.max.request.bytes': 'Memory for requests above 64 KiB that are received or handled; -1 = no bound.',
  'replica.fetch.backoff.ms':
    'How long a joined node waits before it asks again for a partition that could not be followed.',
  'replica.fetch.max.bytes': 'Most bytes of one partition in one answer to a joined node that follows.',
  'replica.fetch.min.bytes': 'Bytes for which a leader waits before it answers a joined node that follows.',
  'replica.fetch.response.max.bytes': 'Most bytes of one answer to a joined node that follows.',
  'replica.fetch.wait.max.ms': 'How long a leader waits for news before it answers a joined node that follows.',
  'replica.lag.time.max.ms': 'How long a follower of a joined node may lag behind before it leaves the ISR.',
  'sasl.enabled.mechanisms': 'Mechanisms of listeners with SASL: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER.',
  'sasl.jaas.config': 'Login module of a mechanism (listener.name.X.mechanism.sasl.jaas.config): the users of PLAIN.',
  'sasl.mechanism.controller.protocol':
    'How this node logs in to the controllers of the cluster to join: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.',
  'sasl.mechanism.inter.broker.protocol':
    'How this node logs in to the other brokers of the cluster to join: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.',
  'sasl.oauthbearer.clock.skew.seconds': 'By how much the clocks of token issuer and node may differ.',
  'sasl.oauthbearer.expected.audience': 'Audiences of which a token must name one; empty = any.',
  'sasl.oauthbearer.expected.issuer': 'Issuer that tokens must name; absent = any.',
  'sasl.oauthbearer.jwks.endpoint.refresh.ms': 'Age at which the keys of tokens are loaded anew.',
  'sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms': 'Longest pause between attempts to load the keys of tokens.',
  'sasl.oauthbearer.jwks.endpoint.retry.backoff.ms': 'First pause between attempts to load the keys of tokens.',
  'sasl.oauthbearer.jwks.endpoint.url': 'Where the public keys of tokens come from: file:, http: or https:.',
  'sasl.oauthbearer.scope.claim.name': 'Claim of a token that lists its scopes.',
  'sasl.oauthbearer.sub.claim.name': 'Claim of a token that names the user.',
  'sasl.server.max.receive.size': 'Largest request before the login is over.',
  'security.inter.broker.protocol':
    'Protocol, and name, of the listener between brokers if inter.broker.listener.name is absent.',
  'share.coordinator.cold.partition.snapshot.interval.ms':
    'Idle time after which the state of a share partition is written anew, so that what is before it can go.',
  'share.coordinator.snapshot.update.records.per.snapshot':
    'Changes of a share partition, then its whole state is written.',
  'share.coordinator.state.topic.compression.codec':
    'Compression of what is written to __share_group_state, by number.',
  'share.coordinator.state.topic.min.isr': 'min.insync.replicas of __share_group_state when it is created.',
  'share.coordinator.state.topic.num.partitions': 'Partitions of __share_group_state when it is created.',
  'share.coordinator.state.topic.prune.interval.ms': 'How often redundant records of __share_group_state are deleted.',
  'share.coordinator.state.topic.replication.factor':
    'Replication factor of __share_group_state, of which one node gives 1.',
  'share.coordinator.state.topic.segment.bytes': 'Segment size of __share_group_state when it is created.',
  'socket.request.max.bytes': 'Largest request that is accepted.',
  'ssl.cipher.suites':
    'Cipher suites of TLS, by their names in the standard or those of OpenSSL; empty = the usual ones.',
  'ssl.client.auth': 'Must clients of a TLS listener show a certificate? none, requested or required.',
  'ssl.enabled.protocols': 'TLS versions that may be used; the lowest and the highest named count.',
  'ssl.key.password': 'Password of the private key (PEM).',
  'ssl.keystore.certificate.chain': 'Certificate chain of a listener as PEM.',
  'ssl.keystore.key': 'Private key of a listener as PEM.',
  'ssl.keystore.location':
    'File with key and certificates of a listener: PEM, PKCS12 or JKS. Loaded anew when it changes.',
  'ssl.keystore.password': 'Password of the key store.',
  'ssl.keystore.type': 'PEM, PKCS12 or JKS; told by the content.',
  'ssl.principal.mapping.rules': "Rules that make a principal of the subject of a client's certificate.",
  'ssl.truststore.certificates': 'Trusted certificates as PEM.',
  'ssl.truststore.location':
    'File with the certificates that are trusted: PEM, PKCS12 or JKS. Loaded anew when it changes.',
  'ssl.truststore.password': 'Password of the trust store.',
  'ssl.truststore.type': 'PEM, PKCS12 or JKS; told by the content.',
  'super.users': 'Principals that may do everything, separated by semicolons: User:admin;User:CN=ops.',
  'transaction.abort.timed.out.transaction.cleanup.interval.ms':
    'How often transactions that are open for too long are looked for.',
  'transaction.max.timeout.ms': 'Longest transaction timeout that a producer may ask for.',
  'transaction.partition.verification.enable':
    'Ask the coordinator before the first records of a transaction enter a partition (clients before transaction version 2).',
  'transaction.remove.expired.transaction.cleanup.interval.ms': 'How often idle transactional ids are looked for.',
  'transaction.state.log.min.isr': 'min.insync.replicas of __transaction_state.',
  'transaction.state.log.num.partitions': 'Partitions of __transaction_state when it is created.',
  'transaction.state.log.replication.factor':
    'Replicas of __transaction_state when it is created, if there are as many brokers.',
  'transaction.state.log.segment.bytes': 'segment.bytes of __transaction_state.',
  'transactional.id.expiration.ms': 'Idle time after which a transactional id is forgotten.',
}

/** Where this node's default is not Kafka's (docs/decisions/0005). */
export const ownDefaults: Readonly<Record<string, string>> = {
  'auto.create.topics.enable': 'false',
  'queued.max.request.bytes': '268435456',
  'log.dir': './lockstep-data',
}

/** Topic configs that are kept and told but have no effect in this node yet; neither have the server properties behind them. */
export const topicConfigsWithoutEffect: ReadonlySet<string> = new Set([
  'compression.lz4.level',
  'file.delete.delay.ms',
  'follower.replication.throttled.replicas',
  'leader.replication.throttled.replicas',
  'local.retention.bytes',
  'local.retention.ms',
  'preallocate',
  'remote.log.copy.disable',
  'remote.log.delete.on.disable',
  'remote.storage.enable',
])
