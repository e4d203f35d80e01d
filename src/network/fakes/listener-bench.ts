/** What the tests of the listener start from: a listener with a handler of theirs, and clients that are closed at the end. */
import type { TestContext } from 'node:test'
import { systemClock } from '../../core/clock.ts'
import { RequestHeader } from '../../protocol/messages/header.ts'
import type { RequestHandler } from '../request-handler.ts'
import { type KafkaServer, type ListenOptions, listen } from '../server-listener.ts'
import { frameOf, RawClient } from './raw-client.ts'
import { RecordingLogger } from './recording-logger.ts'

export const METADATA = 3
export const API_VERSIONS = 18
const served = new Map([
  [METADATA, { min: 0, max: 13 }],
  [API_VERSIONS, { min: 0, max: 4 }],
])

/** A request frame; Metadata without a body of its own carries `body`. */
export function request(correlationId: number, o: { key?: number; version?: number; body?: Buffer } = {}): Buffer {
  const { key = METADATA, version = 1, body = Buffer.alloc(0) } = o
  const header = { requestApiKey: key, requestApiVersion: version, correlationId, clientId: 'test' }
  const flexible = (key === METADATA && version >= 9) || (key === API_VERSIONS && version >= 3)
  return frameOf(RequestHeader.encode(header, flexible ? 2 : 1), body)
}

export interface Started {
  readonly server: KafkaServer
  readonly logger: RecordingLogger
  readonly connect: () => Promise<RawClient>
}

export async function start(t: TestContext, handler: RequestHandler, o: Partial<ListenOptions> = {}): Promise<Started> {
  const logger = new RecordingLogger()
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    name: 'PLAINTEXT',
    maxRequestBytes: 1 << 20,
    idleTimeoutMs: 60_000,
    served,
    handler,
    clock: systemClock,
    logger,
    ...o,
  })
  const clients: RawClient[] = []
  t.after(async () => {
    await Promise.all(clients.map(client => client.close()))
    await server.close()
  })
  const connect = async () => {
    const client = await RawClient.connect(server.port)
    clients.push(client)
    return client
  }
  return { server, logger, connect }
}

export const echo: RequestHandler = async request => [request.body]
export const tick = () => new Promise<void>(resolve => setImmediate(resolve))
