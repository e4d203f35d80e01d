/** Keeps the process alive while a server works: timers that wait do not, and while a node starts there may be nothing else, such as a controller that answers. Called by run-server. */

/** Long: it has nothing to do. */
const TICK_MS = 60_000

/** What `work` resolves to. */
export async function keptAlive<T>(work: () => Promise<T>): Promise<T> {
  const alive = setInterval(() => {}, TICK_MS)
  try {
    return await work()
  } finally {
    clearInterval(alive)
  }
}
