/** The queue in which operations on one mirror run; used by operations, the reconciler and the walk of a reverse. */
import type { MirrorId } from './mirror-changes.ts'

export const mirrorQueue = ({ linkId, mirrorTopic }: MirrorId): string => `mirror/${linkId}/${mirrorTopic}`
