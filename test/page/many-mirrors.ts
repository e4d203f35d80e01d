// The REST server of a node over an engine that only says what it has: ten thousand mirrors, which no suite has the time to create.

import { ZERO_UUID } from '../../src/core/uuid.ts'
import { readPageFiles } from '../../src/node/rest/page-files.ts'
import type { NodeList, NodeView } from '../../src/rest/cluster-ports.ts'
import { FakeEngine, fakeContext, fakeLink, fakeMirror } from '../../src/rest/fakes/fake-engine.ts'
import { buildRestApplication } from '../../src/rest/server.ts'

const STATUSES = ['ACTIVE', 'ACTIVE', 'ACTIVE', 'ACTIVE', 'PAUSED', 'ACTIVE', 'FAILED', 'ACTIVE', 'STOPPED'] as const

const joined = (nodeId: number, cordoned: boolean): NodeView => ({
  ...{ nodeId, cordoned, mode: 'JOINED', version: '1.0.0', restUrl: `http://127.0.0.1:${nodeId}`, health: 'HEALTHY' },
  ...{ partitionsLed: 5, mirrorPartitionsLed: 3, healthMessage: null, linkCoordinator: false },
})
const joinedNodes: NodeList = { nodes: () => [joined(1001, false), joined(1002, true)], unregister: async () => {} }

export interface ManyMirrors {
  readonly url: string
  /** Tells new lags of every mirror, as a node does every five seconds. */
  tellLags(): void
  close(): Promise<void>
}

export async function serveManyMirrors(count: number): Promise<ManyMirrors> {
  const engine = new FakeEngine()
  engine.links = [fakeLink('west', ZERO_UUID)]
  engine.mirrors = Array.from({ length: count }, (_, index) => {
    const status = STATUSES[(index * 7) % STATUSES.length] ?? 'ACTIVE'
    return fakeMirror(`region-${index % 40}.team-${index % 13}.topic-${String(index).padStart(5, '0')}`, { status })
  })
  const app = await buildRestApplication(fakeContext(engine, { page: await readPageFiles(), nodes: joinedNodes }))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  let round = 0
  return {
    url,
    tellLags() {
      round++
      const topics = engine.mirrors.map(({ mirrorTopicName }, index) => {
        const lag = (index * 31 + round * 17) % 5000
        return { mirrorTopicName, lagMax: lag, lagTotal: lag, lagMs: lag }
      })
      const figures = { lagMax: 5000, lagMsMax: 5000, mirroredBytes: round * 1e6 }
      engine.events.tell({ type: 'lag', timeMs: Date.now(), linkName: 'west', ...figures, topics })
    },
    close: () => app.close(),
  }
}
