/** What every operation needs, and the questions that most of them ask first. Implemented by the engine. */
import { linkError } from '../errors.ts'
import type { EngineParts } from '../runtime/engine-parts.ts'
import type { LinkRuntime } from '../runtime/link-runtime.ts'
import type { LinkRecord } from '../state-records/link-record.ts'

export interface OperationContext extends EngineParts {
  /** What runs for the link on this node. */
  runtime(linkId: LinkRecord['linkId']): LinkRuntime | undefined
  /** Drives everything to what the records say; resolves when that is done once. */
  reconcile(): Promise<void>
  /** Resolves when nothing of an earlier link coordinator can arrive any more: what a stop clamps and releases stays so. */
  undisturbed(): Promise<void>
  /** Resolves when other clusters can read what the state says now. */
  published(): Promise<void>
}

export const linkQueue = (linkId: string): string => `link/${linkId}`
export const linkNameQueue = (name: string): string => `link-name/${name}`
/** Creating and binding a topic of this name. */
export const topicNameQueue = (topic: string): string => `topic/${topic}`

/** Throws LINK_NOT_FOUND or STATE_RECORD_UNREADABLE. */
export function requireLink(context: OperationContext, name: string): LinkRecord {
  const link = context.desired.linkByName(name)
  if (!link) throw linkError('LINK_NOT_FOUND', { link: name })
  const problem = context.desired.problemOf(link.linkId)
  if (problem !== undefined) throw linkError('STATE_RECORD_UNREADABLE', { link: name, reason: problem })
  return link
}
