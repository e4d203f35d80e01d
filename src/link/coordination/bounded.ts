/** Work on many things, a few at a time; used by operations over partitions and over topics. */

/** Results in the order of the items. The first failure rejects after the work that is under way has ended. */
export async function mapBounded<T, R>(
  items: readonly T[],
  parallel: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array(items.length)
  let next = 0
  let failed = false
  const worker = async () => {
    for (let index = next++; index < items.length && !failed; index = next++) {
      try {
        results[index] = await work(items[index] as T, index)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  const settled = await Promise.allSettled(Array.from({ length: Math.min(parallel, items.length) }, worker))
  const failure = settled.find(result => result.status === 'rejected')
  if (failure) throw failure.reason
  return results
}
