/** The ACL commands of a cluster of one node; the local controller gives them its queue of commands and exposes them as `acls`. */
import { randomUuid } from '../../core/uuid.ts'
import type { AclEntry } from '../../metadata/acl.ts'
import type { AclCommands } from '../../metadata/acl-commands.ts'
import type { AclFilter } from '../../metadata/acl-filter.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { createAcls, deleteAcls } from './acl-records.ts'
import type { Decision } from './decision.ts'

/** Runs a decision on the image that the command before it left behind. */
type RunCommand = <A>(decide: (image: MetadataImage) => Decision<A>) => Promise<A>

export const localAclCommands = (run: RunCommand): AclCommands => ({
  createAcls: (entries: readonly AclEntry[]) => run(image => createAcls(image, entries, randomUuid)),
  deleteAcls: (filters: readonly AclFilter[]) => run(image => deleteAcls(image, filters)),
})
