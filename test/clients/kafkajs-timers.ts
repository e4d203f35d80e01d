// Keeps KafkaJS from setting timers in the past, of which Node warns; imported for that by whatever makes KafkaJS clients.
import { createRequire } from 'node:module'

interface RequestQueue {
  throttledUntil: number
  scheduleCheckPendingRequests(): void
}

/** As often as KafkaJS looks while requests wait. */
const LOOK_AGAIN_MS = 10

/**
 * KafkaJS 2.2.4 notes "not throttled" as the time -1, whatever it is answered, and sets a timer from now until then: Node takes that for
 * 1 ms and prints a TimeoutNegativeWarning, and the queue looks again every millisecond for nothing. Here it looks as it does while
 * requests wait.
 */
const queue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as { prototype: RequestQueue }
const schedule = queue.prototype.scheduleCheckPendingRequests
queue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
  const { throttledUntil } = this
  this.throttledUntil = Math.max(throttledUntil, Date.now() + LOOK_AGAIN_MS)
  schedule.call(this)
  this.throttledUntil = throttledUntil
}
