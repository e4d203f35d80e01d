/** What happens to errors that nobody caught: the process says so and ends; `lockstep server` calls it. */
import type { Logger } from '../core/logger.ts'

/** As for a node that cannot go on. */
const EXIT_CODE = 1

/**
 * After such an error nobody knows what the memory of this process is worth, so nothing is tidied up: what was acknowledged is on
 * disk, and the next start recovers as after a kill. Whoever supervises the process starts it again.
 */
export function endOnFatalErrors(logger: Logger): void {
  process.on('uncaughtException', (error: unknown, origin) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    logger.error('an error that nobody expected ends the node', { origin, error: text })
    process.exit(EXIT_CODE)
  })
}
