/** Makes the authorizer from the properties file: `authorizer.class.name` and what Kafka's StandardAuthorizer reads; called by settings. */
import { messageOf } from '../core/errors.ts'
import { type Authorizer, allowAll } from '../metadata/authorizer.ts'
import { parseSuperUsers, STANDARD_AUTHORIZER_CLASS, StandardAuthorizer } from '../metadata/standard-authorizer.ts'

/** Everybody may do everything unless the file names Kafka's class. Problems and warnings are pushed to `say`. */
export function authorizerOf(
  properties: ReadonlyMap<string, string>,
  { problems, warnings }: { readonly problems: string[]; readonly warnings: string[] },
): Authorizer {
  const className = properties.get('authorizer.class.name') ?? ''
  if (className === '') return allowAll
  if (className !== STANDARD_AUTHORIZER_CLASS)
    problems.push(`authorizer.class.name: the only authorizer is ${STANDARD_AUTHORIZER_CLASS}, not "${className}"`)
  const superUsers = superUsersOf(properties.get('super.users') ?? '', problems)
  const allowIfNoAcl = properties.get('allow.everyone.if.no.acl.found')?.toLowerCase() === 'true'
  if (superUsers.size === 0 && !allowIfNoAcl)
    warnings.push(
      'super.users is empty: in a cluster without ACLs nobody may do anything, not even create the first ACL',
    )
  return new StandardAuthorizer({ superUsers, allowIfNoAcl })
}

function superUsersOf(text: string, problems: string[]): ReadonlySet<string> {
  try {
    return parseSuperUsers(text)
  } catch (error) {
    problems.push(`super.users: ${messageOf(error)}`)
    return new Set()
  }
}
