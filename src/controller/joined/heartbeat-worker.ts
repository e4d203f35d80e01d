/** The heartbeat thread: a main thread that is busy must not lose its session, and one that hangs must not keep its leaderships. Started by heartbeat-thread.ts. */
import { parentPort, workerData } from 'node:worker_threads'
import { Backoff } from '../../core/backoff.ts'
import { systemClock } from '../../core/clock.ts'
import { systemRandom } from '../../core/random.ts'
import { ActiveController } from './active-controller.ts'
import { HeartbeatLoop } from './heartbeat-loop.ts'
import { HeartbeatMemory } from './heartbeat-memory.ts'
import type { HeartbeatSetting } from './heartbeat-thread.ts'
import { quorumConnections } from './quorum-connection.ts'

const setting = workerData as HeartbeatSetting & { readonly memory: SharedArrayBuffer }
const port = parentPort
if (port) {
  const { clientId, security, timeoutMs, clusterId } = setting
  const open = quorumConnections({ clientId, security, clock: systemClock, timeoutMs })
  // Its timers alone do not keep a thread alive; the open port does.
  const loop = new HeartbeatLoop({
    ...setting,
    memory: new HeartbeatMemory(setting.memory),
    active: new ActiveController({ addresses: setting.addresses, clusterId: () => clusterId, open, timeoutMs }),
    backoff: new Backoff({ initialMs: 100, maxMs: 1000, random: systemRandom }),
    clock: systemClock,
    report: report => port.postMessage(report),
  })
  port.on('message', async (message: 'beat' | 'close') => {
    if (message === 'beat') return loop.beatSoon()
    await loop.close()
    port.close()
  })
}
