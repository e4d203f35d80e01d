/** The ACLs of this cluster for links: what is there, what they create and delete (semantics §7). */
import type { AclBinding, AclRefusal, ClusterAcls } from '../link/ports.ts'
import type { AclCommands } from '../metadata/acl-commands.ts'
import type { ApiError } from '../metadata/api-error.ts'
import type { MetadataImage } from '../metadata/metadata-image.ts'
import { ErrorCode, errorName } from '../protocol/errors.ts'

/** What the image has. */
export const aclsOf = (image: MetadataImage): ClusterAcls => ({
  kind: 'acls',
  acls: [...image.acls.values()].map(({ id: _id, ...acl }) => acl),
})

/** Those that were refused. */
export async function createAcls(
  commands: Pick<AclCommands, 'createAcls'>,
  acls: readonly AclBinding[],
): Promise<AclRefusal[]> {
  return refusals(acls, await commands.createAcls(acls))
}

/** Those that could not be deleted. One that is not there any more is as good as deleted. */
export async function deleteAcls(
  commands: Pick<AclCommands, 'deleteAcls'>,
  acls: readonly AclBinding[],
): Promise<AclRefusal[]> {
  return refusals(acls, await commands.deleteAcls(acls))
}

/** One answer per ACL. */
const refusals = (acls: readonly AclBinding[], answers: readonly ApiError[]): AclRefusal[] =>
  answers.flatMap(({ errorCode, errorMessage }, index) => {
    const acl = acls[index]
    if (errorCode === ErrorCode.NONE || !acl) return []
    const what = `the ACL of ${acl.principal} on '${acl.resourceName}'`
    return [{ acl, message: `${what}: ${errorMessage ?? errorName(errorCode)}` }]
  })
