/** ACLs as the link engine sees them, at the source and here; part of its ports. Numbers are Kafka's, as on the wire. */

/** An access control entry; two with the same fields are the same entry. */
export interface AclBinding {
  readonly resourceType: number
  readonly resourceName: string
  /** 3 literal, 4 prefixed. */
  readonly patternType: number
  /** `User:alice` */
  readonly principal: string
  /** An address, `*` = all. */
  readonly host: string
  readonly operation: number
  /** 2 deny, 3 allow. */
  readonly permissionType: number
}

/** A cluster without an authorizer has no ACLs and takes none. */
export type ClusterAcls =
  | { readonly kind: 'acls'; readonly acls: readonly AclBinding[] }
  | { readonly kind: 'security-disabled' }

/** An ACL that this cluster would not create or delete. */
export interface AclRefusal {
  readonly acl: AclBinding
  readonly message: string
}
