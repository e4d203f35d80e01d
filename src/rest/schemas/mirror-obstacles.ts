/** What clients have to know of the reasons why a source topic is not mirrored; the page reads it. */

/** Codes with which an ordinary topic stands where the mirror would be: on a bidirectional link it may be restored. */
export const restorableReasons: ReadonlySet<string> = new Set(['TOPIC_EXISTS', 'STOPPED'])

/** Codes of `reason` that stand in the way of a mirror also where somebody asks for it. */
export const reasonsAgainstMirrors: ReadonlySet<string> = new Set([
  ...restorableReasons,
  ...['NEVER_MIRRORED', 'INVALID_TOPIC', 'SOURCE_TOPIC_NOT_FOUND', 'AUTHORIZATION_ERROR', 'LOOP', 'OTHER_MIRROR'],
])
