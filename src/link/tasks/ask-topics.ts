/** One question about many source topics, so that a topic that may not be asked about hides no other; sync tasks ask through it. */
import { mapBounded } from '../coordination/bounded.ts'
import { type TaskError, taskErrorOf } from './sync-task.ts'

/** Topics asked about at the same time where one question for all failed. */
const parallel = 8

/** All in one question; if that fails, one by one. Rejects if nothing could be asked, or the only one failed. */
export async function askTopics<T>(
  names: readonly string[],
  ask: (names: readonly string[]) => Promise<Iterable<T>>,
  signal: AbortSignal,
): Promise<{ readonly found: readonly T[]; readonly errors: TaskError[] }> {
  try {
    return { found: [...(await ask(names))], errors: [] }
  } catch (error) {
    if (names.length < 2 || signal.aborted) throw error
  }
  const errors: TaskError[] = []
  const found = await mapBounded(names, parallel, async name => {
    try {
      return [...(await ask([name]))]
    } catch (error) {
      errors.push(taskErrorOf(error, name))
      return []
    }
  })
  return { found: found.flat(), errors }
}
