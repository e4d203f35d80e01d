/** Asking a source while somebody waits for the answer: what keeps an operation from it, in the link's own errors. */
import { linkError } from '../errors.ts'
import { SourceError } from '../ports.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import { linkErrorOf } from '../states/link-health.ts'
import type { OperationContext } from './operation-context.ts'

/** What runs for the link, with its connection. Throws COORDINATOR_NOT_AVAILABLE until it was started. */
export function requireRunning(context: OperationContext, linkId: LinkRecord['linkId']) {
  const runtime = context.runtime(linkId)
  const { source, status } = runtime ?? {}
  if (runtime && source && status) return { runtime, source, status }
  throw linkError('COORDINATOR_NOT_AVAILABLE', { reason: 'the link has not been started on this node yet' })
}

/** The answer to questions; a failure of the source becomes SOURCE_NOT_AVAILABLE of that link. */
export async function askSource<T>(link: string, questions: () => Promise<T>): Promise<T> {
  try {
    return await questions()
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    const detail = { link, error: linkErrorOf(error.failure), reason: error.message }
    throw linkError('SOURCE_NOT_AVAILABLE', detail, error)
  }
}
