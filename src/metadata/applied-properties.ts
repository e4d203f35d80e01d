/** The server properties of Kafka that have an effect in this node (beyond those behind topic configs), with a line of documentation; read by the catalog of broker configs. */
export const appliedProperties: Readonly<Record<string, string>> = {
  'advertised.listeners': 'Addresses that clients are told; default: the listeners themselves.',
  'allow.everyone.if.no.acl.found': 'May everybody use a resource that no ACL is about?',
  'authorizer.class.name':
    'org.apache.kafka.metadata.authorizer.StandardAuthorizer: clients may do what ACLs allow; absent: everything.',
  'auto.create.topics.enable': 'Create a topic when a client asks for the metadata of one that does not exist.',
  'broker.id': 'Older name of node.id.',
  'broker.rack': 'Rack of this node, as told to clients and to replica placement.',
  'connections.max.idle.ms': 'Idle time after which a client connection is closed.',
  'controller.listener.names': 'Listeners of the controller role; a standalone node serves its controller in-process.',
  'controller.quorum.voters': 'The controller quorum; a standalone node may name only itself.',
  'default.replication.factor': 'Replication factor of topics created without one.',
  'delete.topic.enable': 'May topics be deleted?',
  'fetch.max.bytes': 'Most bytes that one Fetch answer carries.',
  listeners: 'Names, hosts and ports to listen on.',
  'listener.security.protocol.map': 'Security protocol of each listener name.',
  'log.dir': 'Data directory, if log.dirs is not set.',
  'log.dirs': 'Data directory (one).',
  'log.retention.check.interval.ms': 'How often old segments are looked for.',
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
  'process.roles': 'broker,controller (or absent) = standalone; broker = joined to a Kafka cluster.',
  'producer.id.expiration.ms': 'Idle time after which the state of an idempotent producer is forgotten.',
  'queued.max.request.bytes': 'Memory for requests above 64 KiB that are received or handled; -1 = no bound.',
  'super.users': 'Principals that may do everything, separated by semicolons: User:admin;User:CN=ops.',
  'socket.request.max.bytes': 'Largest request that is accepted.',
}

/** Where this node's default is not Kafka's (docs/decisions/0005). */
export const ownDefaults: Readonly<Record<string, string>> = {
  'auto.create.topics.enable': 'false',
  'queued.max.request.bytes': '268435456',
  'log.dir': './lockstep-data',
}

/** Topic configs that are kept and told but have no effect in this node yet; neither have the server properties behind them. */
export const topicConfigsWithoutEffect: ReadonlySet<string> = new Set([
  'compression.gzip.level',
  'compression.lz4.level',
  'compression.zstd.level',
  'delete.retention.ms',
  'file.delete.delay.ms',
  'flush.messages',
  'flush.ms',
  'follower.replication.throttled.replicas',
  'leader.replication.throttled.replicas',
  'local.retention.bytes',
  'local.retention.ms',
  'max.compaction.lag.ms',
  'min.cleanable.dirty.ratio',
  'min.compaction.lag.ms',
  'preallocate',
  'remote.log.copy.disable',
  'remote.log.delete.on.disable',
  'remote.storage.enable',
  'segment.jitter.ms',
  'unclean.leader.election.enable',
])
