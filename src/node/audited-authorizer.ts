/** Writes what ACLs refuse to the log of the component `authorizer`, at level debug: also what is asked only to leave it out of a list. Wired by the composition root. */
import type { Logger } from '../core/logger.ts'
import { type Authorizer, allowAll } from '../metadata/authorizer.ts'

/** Decides as the authorizer does. */
export function audited(authorizer: Authorizer, to: Logger): Authorizer {
  if (authorizer === allowAll) return authorizer
  const logger = to.child({ component: 'authorizer' })
  return {
    allows(image, requester, action) {
      const isAllowed = authorizer.allows(image, requester, action)
      if (!isAllowed) logger.debug('refused', { ...requester, ...action })
      return isAllowed
    },
    allowsSome(image, requester, action) {
      const isAllowed = authorizer.allowsSome(image, requester, action)
      if (!isAllowed) logger.debug('refused on every name', { ...requester, ...action })
      return isAllowed
    },
  }
}
