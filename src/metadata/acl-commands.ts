/** Part of the Controller port: how ACLs are created and deleted. Handlers of the broker and links call it; `controller/local` implements it. */
import type { AclEntry, AclImage } from './acl.ts'
import type { AclFilter } from './acl-filter.ts'
import type { ApiError } from './api-error.ts'

/** What one filter removed. */
export interface DeletedAcls extends ApiError {
  readonly acls: readonly AclImage[]
}

export interface AclCommands {
  /** One answer per entry. An entry that exists already is no error and not written again. */
  createAcls(entries: readonly AclEntry[]): Promise<ApiError[]>
  /** One answer per filter. What several filters match is told by each of them. */
  deleteAcls(filters: readonly AclFilter[]): Promise<DeletedAcls[]>
}
