/** Items that a request names more than once, which Kafka refuses in several APIs. */
export function repeated<T>(items: Iterable<T>): ReadonlySet<T> {
  const seen = new Set<T>()
  const again = new Set<T>()
  for (const item of items) (seen.has(item) ? again : seen).add(item)
  return again
}
