/** Makes the authorizer from the properties file: `authorizer.class.name` and what Kafka's StandardAuthorizer reads; called by settings. */
import { messageOf } from '../core/errors.ts'
import { type Authorizer, allowAll } from '../metadata/authorizer.ts'
import { parseSuperUsers, STANDARD_AUTHORIZER_CLASS, StandardAuthorizer } from '../metadata/standard-authorizer.ts'

/** Everybody may do everything unless the file names Kafka's class. Problems are pushed to `problems`. */
export function authorizerOf(properties: ReadonlyMap<string, string>, problems: string[]): Authorizer {
  const className = properties.get('authorizer.class.name') ?? ''
  if (className === '') return allowAll
  if (className !== STANDARD_AUTHORIZER_CLASS)
    problems.push(`authorizer.class.name: the only authorizer is ${STANDARD_AUTHORIZER_CLASS}, not "${className}"`)
  return new StandardAuthorizer({
    superUsers: superUsersOf(properties.get('super.users') ?? '', problems),
    allowIfNoAcl: properties.get('allow.everyone.if.no.acl.found')?.toLowerCase() === 'true',
  })
}

function superUsersOf(text: string, problems: string[]): ReadonlySet<string> {
  try {
    return parseSuperUsers(text)
  } catch (error) {
    problems.push(`super.users: ${messageOf(error)}`)
    return new Set()
  }
}
