/** ACLs and SCRAM credentials as requests to the active controller. Part of the joined Controller. */
import { ZERO_UUID } from '../../core/uuid.ts'
import { type AclEntry, type AclImage, aclKey } from '../../metadata/acl.ts'
import type { AclCommands, DeletedAcls } from '../../metadata/acl-commands.ts'
import type { AclFilter } from '../../metadata/acl-filter.ts'
import type { ApiError } from '../../metadata/api-error.ts'
import { explained } from '../../metadata/missing-right.ts'
import type { ScramCommands } from '../../metadata/scram-commands.ts'
import { CreateAclsApi } from '../../protocol/messages/30-create-acls.ts'
import { DeleteAclsApi, type DeleteAclsResponse } from '../../protocol/messages/31-delete-acls.ts'
import { AlterUserScramCredentialsApi } from '../../protocol/messages/51-alter-user-scram-credentials.ts'
import type { Forwarding } from './forwarded-commands.ts'

/** What these commands need, each on the cluster. */
const ALTER = { operation: 'ALTER', resource: 'CLUSTER' } as const

type Matched = DeleteAclsResponse['filterResults'][number]['matchingAcls'][number]

export const joinedAclCommands = (forwarding: Forwarding): AclCommands => ({
  async createAcls(entries: readonly AclEntry[]): Promise<ApiError[]> {
    const creations = entries.map(({ patternType: resourcePatternType, ...entry }) => ({
      ...entry,
      resourcePatternType,
    }))
    const { results } = await forwarding.change(
      CreateAclsApi,
      { creations },
      { codes: ({ results }) => results.map(({ errorCode }) => errorCode), repeatable: true },
    )
    return results.map(told => explained(told, ALTER))
  },

  async deleteAcls(filters: readonly AclFilter[]): Promise<DeletedAcls[]> {
    // Answers name entries without their ids, and afterwards the image has them no more.
    const known = new Map([...forwarding.image.acls.values()].map(acl => [aclKey(acl), acl]))
    const { filterResults } = await forwarding.change(
      DeleteAclsApi,
      {
        filters: filters.map(({ resourceType, resourceName, patternType, principal, host, ...rest }) => ({
          ...rest,
          resourceTypeFilter: resourceType,
          resourceNameFilter: resourceName,
          patternTypeFilter: patternType,
          principalFilter: principal,
          hostFilter: host,
        })),
      },
      // A second time finds nothing, and would say so.
      { codes: ({ filterResults }) => filterResults.map(({ errorCode }) => errorCode), repeatable: false },
    )
    return filterResults.map(({ errorCode, errorMessage, matchingAcls }) => ({
      ...explained({ errorCode, errorMessage }, ALTER),
      acls: matchingAcls.flatMap(matched =>
        matched.errorCode === 0 ? (known.get(aclKey(matched)) ?? withoutId(matched)) : [],
      ),
    }))
  },
})

/** Created after our image, and deleted before the next. */
const withoutId = ({ errorCode: _code, errorMessage: _message, ...entry }: Matched): AclImage => ({
  ...entry,
  id: ZERO_UUID,
})

export const joinedScramCommands = (forwarding: Forwarding): ScramCommands => ({
  async alterCredentials(deletions, upsertions) {
    const { results } = await forwarding.change(
      AlterUserScramCredentialsApi,
      { deletions: [...deletions], upsertions: [...upsertions] },
      {
        codes: ({ results }) => results.map(({ errorCode }) => errorCode),
        repeatable: upsertions.length > 0 && deletions.length === 0,
      },
    )
    return results.map(told => explained(told, ALTER))
  },
})
