/** A server that gets every frame and answers with whatever bytes the test writes: brokers that misbehave. */
import { createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { ApiVersionsResponse } from '../../protocol/messages/18-api-versions.ts'
import { FrameAssembler } from '../frame-assembler.ts'
import { frameOf } from './raw-client.ts'

/** Listens until the test ends; resolves to the port. */
export async function startRaw(t: TestContext, onFrame: (frame: Buffer, socket: Socket) => void): Promise<number> {
  const sockets: Socket[] = []
  const server: Server = createServer(socket => {
    sockets.push(socket)
    socket.on('error', () => {})
    const assembler = new FrameAssembler({ frameBytesMax: 1 << 20, mayAlias: true, allocateAtOnceBytesMax: 1024 })
    socket.on('data', chunk => {
      for (let at = 0; at < chunk.length; ) {
        at = assembler.push(chunk, at)
        const frame = assembler.take()
        if (frame) onFrame(frame, socket)
      }
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

/** Answers an ApiVersions request (version 0 to 4) as a broker that serves Metadata. */
export function answerVersions(frame: Buffer, socket: Socket): void {
  const apiKeys = [{ apiKey: 3, minVersion: 0, maxVersion: 13 }]
  const body = ApiVersionsResponse.encode({ errorCode: 0, apiKeys, throttleTimeMs: 0 }, frame.readInt16BE(2))
  socket.write(frameOf(frame.subarray(4, 8), body))
}
