/** Runs the same job for many items, a bounded number at a time; opening and closing of many logs uses it. */

/** Resolves when every job has ended; rejects with the first failure after the running jobs have ended. */
export async function forEachBounded<T>(
  items: Iterable<T>,
  parallel: number,
  job: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]()
  const worker = async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await job(next.value)
  }
  const results = await Promise.allSettled(Array.from({ length: parallel }, worker))
  for (const result of results) if (result.status === 'rejected') throw result.reason
}
