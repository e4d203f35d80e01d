/** Connections to other brokers follow the metadata: shared, made anew when lost, and moved when the broker moves. */
import { ok, rejects, strictEqual } from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { openToAll, quorumConnections } from '../../controller/joined/quorum-connection.ts'
import { systemClock } from '../../core/clock.ts'
import { javaBroker } from '../../metadata/fakes/joined-images.ts'
import { type BrokerImage, emptyImage } from '../../metadata/metadata-image.ts'
import { answerVersions, startRaw } from '../../network/fakes/raw-server.ts'
import { ClusterConnections } from './cluster-connections.ts'

const brokerAt = (port: number): BrokerImage =>
  javaBroker(1, {
    listeners: new Map([['INTERNAL', { name: 'INTERNAL', host: '127.0.0.1', port, securityProtocol: 0 }]]),
  })

test('a broker has one connection for everybody, a new one when it is lost or the broker moved, and own ones beside it', async t => {
  const sockets: Socket[] = []
  const answer = (frame: Buffer, socket: Socket) => {
    sockets.push(socket)
    answerVersions(frame, socket)
  }
  let port = await startRaw(t, answer)
  const open = quorumConnections({ clientId: 'c', security: openToAll, clock: systemClock, timeoutMs: 10_000 })
  const image = () => ({ ...emptyImage('c'), brokers: new Map([[1, brokerAt(port)]]) })
  const connections = new ClusterConnections({ listener: 'INTERNAL', open, image })
  const [first, same] = await Promise.all([connections.to(1), connections.to(1)])
  strictEqual(first, same)
  const own = await connections.open(1)
  ok(own !== first)

  sockets[0]?.destroy()
  await first.closed
  const [again, shared] = await Promise.all([connections.to(1), connections.to(1)])
  ok(again !== first && again.isOpen)
  strictEqual(again, shared)

  port = await startRaw(t, answer)
  const moved = await connections.to(1)
  strictEqual(moved.port, port)
  await again.closed

  await rejects(connections.to(2), /broker 2 is not registered/)
  await connections.close()
  ok(!moved.isOpen && !own.isOpen)
  await rejects(connections.to(1), /shutting down/)
})
