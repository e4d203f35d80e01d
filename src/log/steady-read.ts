/** Repeats a read that a cut or a swap of segments came across; everything that reads a log outside of its queue of changes goes through it. */
import type { LogContents } from './log-contents.ts'
import { LogError } from './log-error.ts'

/** Cuts and swaps are rare, so this is never reached but bounds the loop. */
const ATTEMPTS_MAX = 10

/** Reads until nothing changed meanwhile. An error counts as the log's own only if nothing changed. */
export async function readSteadily<T>(contents: LogContents, read: () => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    // Another swap may have begun before this one goes on.
    while (contents.swapping) await contents.swapping
    const { cuts } = contents
    try {
      const result = await read()
      if (cuts === contents.cuts) return result
    } catch (error) {
      if (cuts === contents.cuts) throw error
    }
  }
  throw new LogError('storage', `${contents.name} is being cut all the time`)
}
