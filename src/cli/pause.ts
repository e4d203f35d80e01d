/** Waiting of the command line between two looks at a node. */
import { setTimeout as delay } from 'node:timers/promises'

/** Resolves after `ms`, or at once when `signal` is aborted. Never rejects. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {})
}
