/** Kafka's error codes as one table; read wherever an answer is made or judged, and by error rows that name a Kafka error. */

/** One error code of the protocol. */
export interface KafkaError {
  /** The int16 on the wire. */
  readonly code: number
  /** Whether a client may simply try again. */
  readonly retriable: boolean
  /** Short explanation for people; sent as error message where an answer has room and nothing better is known. */
  readonly text: string
}

const final = (code: number, text: string): KafkaError => ({ code, retriable: false, text })
const retry = (code: number, text: string): KafkaError => ({ code, retriable: true, text })

/** Every error of Kafka 4.3 by its name. */
export const kafkaErrors = {
  UNKNOWN_SERVER_ERROR: final(-1, 'unexpected failure on the server'),
  NONE: final(0, 'no error'),
  OFFSET_OUT_OF_RANGE: final(1, 'the offset is outside the log'),
  CORRUPT_MESSAGE: retry(2, 'the record batch is damaged, too large, or lacks a key that its topic needs'),
  UNKNOWN_TOPIC_OR_PARTITION: retry(3, 'there is no such topic or partition here'),
  INVALID_FETCH_SIZE: final(4, 'the fetch size is not valid'),
  LEADER_NOT_AVAILABLE: retry(5, 'the partition has no leader at the moment'),
  NOT_LEADER_OR_FOLLOWER: retry(6, 'this broker does not have the role for the partition that the request needs'),
  REQUEST_TIMED_OUT: retry(7, 'the request took longer than allowed'),
  BROKER_NOT_AVAILABLE: final(8, 'the broker is not available'),
  REPLICA_NOT_AVAILABLE: retry(9, 'the replica of the partition is not available'),
  MESSAGE_TOO_LARGE: final(10, 'a record batch is larger than the topic accepts'),
  STALE_CONTROLLER_EPOCH: final(11, 'another controller has taken over'),
  OFFSET_METADATA_TOO_LARGE: final(12, 'the metadata text of the committed offset is too long'),
  NETWORK_EXCEPTION: retry(13, 'the connection ended before the answer came'),
  COORDINATOR_LOAD_IN_PROGRESS: retry(14, 'the coordinator is still loading its state'),
  COORDINATOR_NOT_AVAILABLE: retry(15, 'the coordinator is not available'),
  NOT_COORDINATOR: retry(16, 'this broker is not the coordinator'),
  INVALID_TOPIC_EXCEPTION: final(17, 'the topic name is not allowed, or the topic may not be used this way'),
  RECORD_LIST_TOO_LARGE: final(18, 'the record batch is larger than a log segment'),
  NOT_ENOUGH_REPLICAS: retry(19, 'fewer replicas are in sync than the topic requires'),
  NOT_ENOUGH_REPLICAS_AFTER_APPEND: retry(20, 'written, but to fewer in-sync replicas than the topic requires'),
  INVALID_REQUIRED_ACKS: final(21, 'acks must be 0, 1 or -1'),
  ILLEGAL_GENERATION: final(22, 'the group has moved on to another generation'),
  INCONSISTENT_GROUP_PROTOCOL: final(23, 'the member supports no protocol that the group uses'),
  INVALID_GROUP_ID: final(24, 'the group id is not valid'),
  UNKNOWN_MEMBER_ID: final(25, 'the group does not know this member'),
  INVALID_SESSION_TIMEOUT: final(26, 'the session timeout is outside the range the broker allows'),
  REBALANCE_IN_PROGRESS: final(27, 'the group is rebalancing'),
  INVALID_COMMIT_OFFSET_SIZE: final(28, 'the offset commit is too large'),
  TOPIC_AUTHORIZATION_FAILED: final(29, 'not authorized for the topic'),
  GROUP_AUTHORIZATION_FAILED: final(30, 'not authorized for the group'),
  CLUSTER_AUTHORIZATION_FAILED: final(31, 'not authorized for the cluster'),
  INVALID_TIMESTAMP: final(32, 'a record timestamp is outside the range the topic accepts'),
  UNSUPPORTED_SASL_MECHANISM: final(33, 'the SASL mechanism is not enabled'),
  ILLEGAL_SASL_STATE: final(34, 'the request does not fit the state of authentication'),
  UNSUPPORTED_VERSION: final(35, 'this version of the API is not supported'),
  TOPIC_ALREADY_EXISTS: final(36, 'the topic exists already'),
  INVALID_PARTITIONS: final(37, 'the number of partitions is not valid'),
  INVALID_REPLICATION_FACTOR: final(38, 'the replication factor is below 1 or above the number of brokers'),
  INVALID_REPLICA_ASSIGNMENT: final(39, 'the replica assignment is not valid'),
  INVALID_CONFIG: final(40, 'a config value is not valid'),
  NOT_CONTROLLER: retry(41, 'this node is not the active controller'),
  INVALID_REQUEST: final(42, 'the request contradicts itself or the protocol'),
  UNSUPPORTED_FOR_MESSAGE_FORMAT: final(43, 'the message format of the log does not support the request'),
  POLICY_VIOLATION: final(44, 'refused by a policy'),
  OUT_OF_ORDER_SEQUENCE_NUMBER: final(45, 'the producer sequence has a gap'),
  DUPLICATE_SEQUENCE_NUMBER: final(46, 'the producer sequence was written before'),
  INVALID_PRODUCER_EPOCH: final(47, 'the producer epoch is too old'),
  INVALID_TXN_STATE: final(48, 'the transaction is not in a state that allows this'),
  INVALID_PRODUCER_ID_MAPPING: final(49, 'the transactional id belongs to another producer id'),
  INVALID_TRANSACTION_TIMEOUT: final(50, 'the transaction timeout is above what the broker allows'),
  CONCURRENT_TRANSACTIONS: retry(51, 'an earlier operation on this transaction is still running'),
  TRANSACTION_COORDINATOR_FENCED: final(52, 'the transaction coordinator has been replaced'),
  TRANSACTIONAL_ID_AUTHORIZATION_FAILED: final(53, 'not authorized for the transactional id'),
  SECURITY_DISABLED: final(54, 'security is not enabled'),
  OPERATION_NOT_ATTEMPTED: final(55, 'not tried because an earlier part of the request failed'),
  KAFKA_STORAGE_ERROR: retry(56, 'the disk of the log failed'),
  LOG_DIR_NOT_FOUND: final(57, 'the log directory does not exist'),
  SASL_AUTHENTICATION_FAILED: final(58, 'authentication failed'),
  UNKNOWN_PRODUCER_ID: final(59, 'nothing is known of this producer id any more'),
  REASSIGNMENT_IN_PROGRESS: final(60, 'the partition is being reassigned'),
  DELEGATION_TOKEN_AUTH_DISABLED: final(61, 'delegation tokens are not enabled'),
  DELEGATION_TOKEN_NOT_FOUND: final(62, 'the delegation token does not exist'),
  DELEGATION_TOKEN_OWNER_MISMATCH: final(63, 'the principal neither owns nor may renew the token'),
  DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: final(64, 'tokens may not be requested over this kind of connection'),
  DELEGATION_TOKEN_AUTHORIZATION_FAILED: final(65, 'not authorized for the delegation token'),
  DELEGATION_TOKEN_EXPIRED: final(66, 'the delegation token has expired'),
  INVALID_PRINCIPAL_TYPE: final(67, 'the type of principal is not supported'),
  NON_EMPTY_GROUP: final(68, 'the group still has members'),
  GROUP_ID_NOT_FOUND: final(69, 'the group does not exist'),
  FETCH_SESSION_ID_NOT_FOUND: retry(70, 'the fetch session does not exist'),
  INVALID_FETCH_SESSION_EPOCH: retry(71, 'the epoch of the fetch session is not the expected one'),
  LISTENER_NOT_FOUND: retry(72, 'the leader has no listener of this name'),
  TOPIC_DELETION_DISABLED: final(73, 'topics may not be deleted'),
  FENCED_LEADER_EPOCH: retry(74, 'the leader epoch of the request is older than the current one'),
  UNKNOWN_LEADER_EPOCH: retry(75, 'the leader epoch of the request is newer than the known one'),
  UNSUPPORTED_COMPRESSION_TYPE: final(76, 'the compression codec is not supported here'),
  STALE_BROKER_EPOCH: final(77, 'the broker has registered again since'),
  OFFSET_NOT_AVAILABLE: retry(78, 'the new leader has not confirmed its high watermark yet'),
  MEMBER_ID_REQUIRED: final(79, 'join again with the member id of this answer'),
  PREFERRED_LEADER_NOT_AVAILABLE: retry(80, 'the preferred leader is not available'),
  GROUP_MAX_SIZE_REACHED: final(81, 'the group is full'),
  FENCED_INSTANCE_ID: final(82, 'another member has taken over this static instance id'),
  ELIGIBLE_LEADERS_NOT_AVAILABLE: retry(83, 'no replica may become leader'),
  ELECTION_NOT_NEEDED: retry(84, 'the wanted replica leads already'),
  NO_REASSIGNMENT_IN_PROGRESS: final(85, 'no reassignment is running'),
  GROUP_SUBSCRIBED_TO_TOPIC: final(86, 'the group is subscribed to the topic'),
  INVALID_RECORD: final(87, 'a record failed validation'),
  UNSTABLE_OFFSET_COMMIT: retry(88, 'an open transaction still decides about the offset'),
  THROTTLING_QUOTA_EXCEEDED: retry(89, 'the quota is used up'),
  PRODUCER_FENCED: final(90, 'a newer producer uses the same transactional id'),
  RESOURCE_NOT_FOUND: final(91, 'the resource does not exist'),
  DUPLICATE_RESOURCE: final(92, 'the resource is named twice'),
  UNACCEPTABLE_CREDENTIAL: final(93, 'the credential is not acceptable'),
  INCONSISTENT_VOTER_SET: final(94, 'sender or receiver is not one of the expected voters'),
  INVALID_UPDATE_VERSION: final(95, 'the version to update to is not valid'),
  FEATURE_UPDATE_FAILED: final(96, 'the feature level could not be changed'),
  PRINCIPAL_DESERIALIZATION_FAILURE: final(97, 'the principal of the forwarded request is unreadable'),
  SNAPSHOT_NOT_FOUND: final(98, 'the snapshot does not exist'),
  POSITION_OUT_OF_RANGE: final(99, 'the position is outside the snapshot'),
  UNKNOWN_TOPIC_ID: retry(100, 'there is no topic with this id here'),
  DUPLICATE_BROKER_REGISTRATION: final(101, 'another broker uses this id'),
  BROKER_ID_NOT_REGISTERED: final(102, 'no broker with this id is registered'),
  INCONSISTENT_TOPIC_ID: retry(103, 'the topic id is not that of the log'),
  INCONSISTENT_CLUSTER_ID: final(104, 'this is another cluster'),
  TRANSACTIONAL_ID_NOT_FOUND: final(105, 'the transactional id does not exist'),
  FETCH_SESSION_TOPIC_ID_ERROR: retry(106, 'the fetch session mixes topic names and topic ids'),
  INELIGIBLE_REPLICA: final(107, 'a replica may not join the in-sync set'),
  NEW_LEADER_ELECTED: final(108, 'done, but the partition has another leader now'),
  OFFSET_MOVED_TO_TIERED_STORAGE: final(109, 'the offset is in tiered storage'),
  FENCED_MEMBER_EPOCH: final(110, 'the member is fenced: give up all partitions and join again'),
  UNRELEASED_INSTANCE_ID: final(111, 'the instance id still belongs to another member'),
  UNSUPPORTED_ASSIGNOR: final(112, 'the group does not support the assignor'),
  STALE_MEMBER_EPOCH: final(113, 'the member epoch is behind: try again after the next heartbeat'),
  MISMATCHED_ENDPOINT_TYPE: final(114, 'the request is for the other kind of endpoint (broker or controller)'),
  UNSUPPORTED_ENDPOINT_TYPE: final(115, 'the endpoint type is not supported'),
  UNKNOWN_CONTROLLER_ID: final(116, 'there is no controller with this id'),
  UNKNOWN_SUBSCRIPTION_ID: final(117, 'the telemetry subscription is unknown or outdated'),
  TELEMETRY_TOO_LARGE: final(118, 'the telemetry push is too large'),
  INVALID_REGISTRATION: final(119, 'the controller refuses the registration'),
  TRANSACTION_ABORTABLE: final(120, 'the transaction must be aborted, after that the producer may go on'),
  INVALID_RECORD_STATE: final(121, 'the record cannot be acknowledged in its state'),
  SHARE_SESSION_NOT_FOUND: retry(122, 'the share session does not exist'),
  INVALID_SHARE_SESSION_EPOCH: retry(123, 'the epoch of the share session is not the expected one'),
  FENCED_STATE_EPOCH: final(124, 'the state epoch of the share group does not match'),
  INVALID_VOTER_KEY: final(125, 'the key of the voter is not that of this replica'),
  DUPLICATE_VOTER: final(126, 'the replica is a voter already'),
  VOTER_NOT_FOUND: final(127, 'the replica is not a voter'),
  INVALID_REGULAR_EXPRESSION: final(128, 'the regular expression is not valid'),
  REBOOTSTRAP_REQUIRED: final(129, 'start again from the bootstrap servers'),
  STREAMS_INVALID_TOPOLOGY: final(130, 'the streams topology is not valid'),
  STREAMS_INVALID_TOPOLOGY_EPOCH: final(131, 'the epoch of the streams topology is not valid'),
  STREAMS_TOPOLOGY_FENCED: final(132, 'the streams topology is outdated'),
  SHARE_SESSION_LIMIT_REACHED: retry(133, 'there are too many share sessions'),
} as const satisfies Record<string, KafkaError>

/** Kafka's name of an error. */
export type KafkaErrorName = keyof typeof kafkaErrors

const names = Object.keys(kafkaErrors) as KafkaErrorName[]
const nameByCode = new Map<number, KafkaErrorName>(names.map(name => [kafkaErrors[name].code, name]))

/** Codes by name: `ErrorCode.UNKNOWN_TOPIC_OR_PARTITION` is 3. */
export const ErrorCode = Object.fromEntries(names.map(name => [name, kafkaErrors[name].code])) as Readonly<
  Record<KafkaErrorName, number>
>

/** The row of a code, or undefined for one that Kafka 4.3 does not have. */
export function errorOf(code: number): (KafkaError & { readonly name: KafkaErrorName }) | undefined {
  const name = nameByCode.get(code)
  return name === undefined ? undefined : { name, ...kafkaErrors[name] }
}

/** Kafka's name of a code; `UNKNOWN_ERROR_<code>` for one that Kafka 4.3 does not have. */
export const errorName = (code: number): string => nameByCode.get(code) ?? `UNKNOWN_ERROR_${code}`
