/** Bit fields of the operations that a client may do, as Metadata and DescribeCluster tell them; without an authorizer: all. */

/** ACL operations by their number on the wire. */
const operation = {
  read: 3,
  write: 4,
  create: 5,
  delete: 6,
  alter: 7,
  describe: 8,
  clusterAction: 9,
  describeConfigs: 10,
  alterConfigs: 11,
  idempotentWrite: 12,
} as const

const bits = (...operations: readonly number[]): number => operations.reduce((sum, number) => sum | (1 << number), 0)

/** "Not asked for". */
export const OPERATIONS_UNKNOWN = -2147483648

export const topicOperations = bits(
  operation.read,
  operation.write,
  operation.create,
  operation.describe,
  operation.delete,
  operation.alter,
  operation.describeConfigs,
  operation.alterConfigs,
)

export const clusterOperations = bits(
  operation.create,
  operation.clusterAction,
  operation.describeConfigs,
  operation.alterConfigs,
  operation.alter,
  operation.idempotentWrite,
  operation.describe,
)
