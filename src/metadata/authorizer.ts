/** May a principal do an operation on a resource? The port that handlers and REST ask; `standard-authorizer.ts` decides by the ACLs of the image. */
import type { MetadataImage } from './metadata-image.ts'

/** Operations of ACLs by name; the numbers are those of the wire. ANY (1) exists in filters only and ALL (2) in ACLs and filters, so neither is asked for. */
export const AclOperation = {
  READ: 3,
  WRITE: 4,
  CREATE: 5,
  DELETE: 6,
  ALTER: 7,
  DESCRIBE: 8,
  CLUSTER_ACTION: 9,
  DESCRIBE_CONFIGS: 10,
  ALTER_CONFIGS: 11,
  IDEMPOTENT_WRITE: 12,
  CREATE_TOKENS: 13,
  DESCRIBE_TOKENS: 14,
  TWO_PHASE_COMMIT: 15,
} as const

export type AclOperationName = keyof typeof AclOperation

/** Types of resources by name; the numbers are those of the wire. */
export const AclResource = {
  TOPIC: 2,
  GROUP: 3,
  CLUSTER: 4,
  TRANSACTIONAL_ID: 5,
  DELEGATION_TOKEN: 6,
  USER: 7,
} as const

export type AclResourceName = keyof typeof AclResource

/** The only name that a resource of type CLUSTER has. */
export const CLUSTER_NAME = 'kafka-cluster'

/** Who asks: `principal` as in ACLs (`User:alice`), `host` is the client's IP address. */
export interface Requester {
  readonly principal: string
  readonly host: string
}

/** What is asked for. */
export interface AclAction {
  readonly operation: AclOperationName
  readonly resource: AclResourceName
  readonly name: string
}

export interface Authorizer {
  /** Decided by the ACLs of `image`; of an image that is not the newest, by the ACLs of then. */
  allows(image: MetadataImage, requester: Requester, action: AclAction): boolean
  /** Is there any resource of the type on which the operation is allowed? (Kafka's `authorizeByResourceType`.) */
  allowsSome(image: MetadataImage, requester: Requester, action: Omit<AclAction, 'name'>): boolean
}

/** A node without `authorizer.class.name`: everybody may do everything. */
export const allowAll: Authorizer = { allows: () => true, allowsSome: () => true }
