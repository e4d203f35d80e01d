/** Which partition of an internal topic holds the state of a key, as every Kafka broker computes it; StatePartitions uses it. */

/** `String.hashCode` of Java: over UTF-16 units, in 32 bits. */
export function javaHash(text: string): number {
  let hash = 0
  for (let index = 0; index < text.length; index++) hash = (Math.imul(31, hash) + text.charCodeAt(index)) | 0
  return hash
}

/** The absolute value of the hash (0 for the one that has none in 32 bits), modulo the number of partitions. */
export function partitionForKey(key: string, partitions: number): number {
  const hash = javaHash(key)
  return (hash === -0x8000_0000 ? 0 : Math.abs(hash)) % partitions
}
