// Lets brokers hear of metadata late: a proxy before a controller that holds up the answers to fetches; used by cluster.ts to find races.
import { createConnection, createServer, type Server, type Socket } from 'node:net'

/** The API keys of Fetch and FetchSnapshot, with which brokers follow the metadata log. */
const FOLLOWING: ReadonlySet<number> = new Set([1, 59])
const UNDECIDED_BYTES_MAX = 64 * 1024

/** How late brokers are to hear of what a controller has committed; 0: as soon as they can. */
export const metadataLateMs = Number(process.env['LOCKSTEP_LATE_METADATA_MS'] ?? 0)

/**
 * Listens on `port` of 127.0.0.1 for the controller on `to`. What a broker asks the controller to do is answered at once, what it
 * hears of the metadata log comes late: so whatever a test takes for done because it was answered is not done yet.
 */
export async function startLateMetadata(port: number, to: number, lateMs: number): Promise<Server> {
  const server = createServer(client => {
    const controller = createConnection({ host: '127.0.0.1', port: to })
    const follows = fetchesIn(client)
    controller.on('data', chunk => {
      if (!follows()) client.write(chunk)
      else setTimeout(() => client.write(chunk), lateMs).unref()
    })
    client.pipe(controller)
    for (const [one, other] of [
      [client, controller],
      [controller, client],
    ] as const)
      one.on('close', () => other.destroy()).on('error', () => other.destroy())
  })
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  server.unref()
  return server
}

/** Looks at the requests of a connection; whether one of them was a fetch. */
function fetchesIn(client: Socket): () => boolean {
  let follows = false
  let rest = Buffer.alloc(0)
  client.on('data', (chunk: Buffer) => {
    if (follows) return
    rest = Buffer.concat([rest, chunk])
    while (
      !follows &&
      rest.length >= 6 &&
      (rest.length >= 4 + rest.readInt32BE(0) || rest.length > UNDECIDED_BYTES_MAX)
    ) {
      follows = FOLLOWING.has(rest.readInt16BE(4))
      rest = rest.subarray(Math.min(rest.length, 4 + rest.readInt32BE(0)))
    }
  })
  return () => follows
}
