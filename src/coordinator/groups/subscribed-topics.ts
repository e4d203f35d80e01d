/** Which topics the members of a consumer group subscribe to, out of what they tell their leader; ClassicGroup asks it for the expiry of offsets. */

/** `protocol_type` of consumers. */
export const CONSUMER_PROTOCOL = 'consumer'

/**
 * The topics in a consumer's subscription: version, then (in every version) the names. undefined if it is something else: what
 * members tell their leader is theirs.
 */
export function subscribedTopics(metadata: Buffer): string[] | undefined {
  try {
    const topics: string[] = []
    let position = 2
    const count = metadata.readInt32BE(position)
    position += 4
    for (let index = 0; index < count; index++) {
      const length = metadata.readInt16BE(position)
      position += 2
      if (length < 0 || position + length > metadata.length) return undefined
      topics.push(metadata.toString('utf8', position, position + length))
      position += length
    }
    return topics
  } catch {
    return undefined
  }
}
