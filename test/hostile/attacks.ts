// What clients can do to a node by mistake or on purpose, each for many connections at once; the suite and the benchmark use them.
import { RawClient } from '../../src/network/fakes/raw-client.ts'
import { MetadataApi } from '../../src/protocol/messages/03-metadata.ts'
import { ApiVersionsApi } from '../../src/protocol/messages/18-api-versions.ts'
import { requestFrame } from '../raw-request.ts'
import { fetchFrame, type RawTopic } from './raw-topic.ts'

/** Opens so many connections, a bounded number at a time. */
export async function openMany(port: number, count: number): Promise<RawClient[]> {
  const clients: RawClient[] = []
  while (clients.length < count) {
    const some = Array.from({ length: Math.min(100, count - clients.length) }, () => RawClient.connect(port))
    clients.push(...(await Promise.all(some)))
  }
  return clients
}

export const closeAll = (clients: readonly RawClient[]) => Promise.all(clients.map(client => client.close()))

/** Each asks for everything over and over and reads nothing. */
export async function neverRead(topic: RawTopic, count: number): Promise<RawClient[]> {
  const clients = await openMany(topic.port, count)
  const requests = Buffer.concat(Array.from({ length: 50 }, () => fetchFrame(topic, 0)))
  for (const client of clients) {
    client.socket.pause()
    await client.write(requests)
  }
  return clients
}

/** The size of a request as its four bytes. */
export function sizeOf(bytes: number): Buffer {
  const size = Buffer.alloc(4)
  size.writeInt32BE(bytes)
  return size
}

/** A client's introduction and its first question, both answered. */
export async function introduce(client: RawClient): Promise<void> {
  const software = { clientSoftwareName: 'raw', clientSoftwareVersion: '1' }
  await client.write(requestFrame(ApiVersionsApi, software))
  await client.next()
  await client.write(requestFrame(MetadataApi, { topics: [] }))
  await client.next()
}

/** Bytes that begin like a request of some API and go on at random. */
export function garbage(random: () => number): Buffer {
  const bytes = Buffer.from(Array.from({ length: 1 + Math.floor(random() * 400) }, () => Math.floor(random() * 256)))
  const kind = Math.floor(random() * 3)
  if (kind === 0) return bytes
  const body = Buffer.concat([Buffer.alloc(14), bytes])
  body.writeInt16BE(kind === 1 ? Math.floor(random() * 93) : Math.floor(random() * 65536) - 32768, 0)
  body.writeInt16BE(Math.floor(random() * 20), 2)
  body.writeInt16BE(0, 8)
  return Buffer.concat([sizeOf(body.length), body])
}
