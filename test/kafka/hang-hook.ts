// Loaded into a Lockstep node before its own code (--import): SIGUSR2 makes its main thread stand still, as a bug would.
import { isMainThread } from 'node:worker_threads'

/** Longer than the 3 s after which its heartbeats ask to be fenced. */
const HANG_MS = 12_000

if (isMainThread)
  process.on('SIGUSR2', () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HANG_MS)
  })
