// A proxy in front of a broker that shows clients only the APIs and versions that Kafka 2.1 had; used by the suite of source incidents.
import type { Socket } from 'node:net'
import { frameOf } from '../../src/network/fakes/raw-client.ts'
import { FrameAssembler } from '../../src/network/frame-assembler.ts'
import { ErrorCode } from '../../src/protocol/errors.ts'
import { ApiVersionsApi, type ApiVersionsResponse } from '../../src/protocol/messages/18-api-versions.ts'
import { BrokerProxy, type ProxiedConnection } from './broker-proxy.ts'

/** By API key, the newest version of those that Kafka 2.1.1 announces. */
const NEWEST: readonly number[] = [
  7, 10, 4, 7, 1, 0, 4, 1, 6, 5, 2, 3, 2, 2, 2, 2, 2, 1, 2, 3, 3, 1, 1, 2, 1, 1, 1, 0, 2, 1, 1, 1, 2, 1, 1, 1, 0, 1, 1,
  1, 1, 1, 1,
]

const API_VERSIONS_NEWEST = NEWEST[ApiVersionsApi.key] ?? 0

/** One direction of a connection, frame by frame. */
function eachFrame(from: Socket, handle: (frame: Buffer) => void): void {
  const assembler = new FrameAssembler({ frameBytesMax: 1 << 28, mayAlias: true, allocateAtOnceBytesMax: 1 << 16 })
  from.on('data', chunk => {
    for (let at = 0; at < chunk.length; ) {
      at = assembler.push(chunk, at)
      const frame = assembler.take()
      if (frame) handle(frame)
    }
  })
}

export class HiddenApisProxy {
  /** By API key, the newest version that clients used. */
  readonly used = new Map<number, number>()
  /** What clients asked though it was hidden from them. */
  readonly forbidden: string[] = []
  #proxy: BrokerProxy | undefined

  private constructor() {}

  /** Listens on `port` and forwards to `target`. */
  static async start(port: number, target: number): Promise<HiddenApisProxy> {
    const hiding = new HiddenApisProxy()
    hiding.#proxy = await BrokerProxy.start(port, target, connection => hiding.#serve(connection))
    return hiding
  }

  async close(): Promise<void> {
    await this.#proxy?.close()
  }

  #serve({ client, broker, cut }: ProxiedConnection): void {
    /** Versions of the requests for versions under way, by correlation id. */
    const asked = new Map<number, number>()
    eachFrame(client, frame => {
      const [key, version, correlationId] = [frame.readInt16BE(0), frame.readInt16BE(2), frame.readInt32BE(4)]
      if (key === ApiVersionsApi.key && version > API_VERSIONS_NEWEST)
        return client.write(answer(correlationId, refusal, 0))
      if (key === ApiVersionsApi.key) asked.set(correlationId, version)
      if (!this.#allows(key, version)) return cut()
      return broker.write(frameOf(frame))
    })
    eachFrame(broker, frame => {
      const correlationId = frame.readInt32BE(0)
      const version = asked.get(correlationId)
      asked.delete(correlationId)
      client.write(version === undefined ? frameOf(frame) : answer(correlationId, shown(frame, version), version))
    })
  }

  #allows(key: number, version: number): boolean {
    this.used.set(key, Math.max(version, this.used.get(key) ?? 0))
    if (version <= (NEWEST[key] ?? -1)) return true
    this.forbidden.push(`version ${version} of API ${key}`)
    return false
  }
}

/** Kafka 2.1 says nothing more to a client that is too new. */
const refusal: ApiVersionsResponse = {
  errorCode: ErrorCode.UNSUPPORTED_VERSION,
  apiKeys: [],
  throttleTimeMs: 0,
  supportedFeatures: [],
  finalizedFeaturesEpoch: -1n,
  finalizedFeatures: [],
  zkMigrationReady: false,
}

function shown(frame: Buffer, version: number): ApiVersionsResponse {
  const whole = ApiVersionsApi.response.decode(frame.subarray(4), version)
  const apiKeys = whole.apiKeys.flatMap(api => {
    const maxVersion = Math.min(api.maxVersion, NEWEST[api.apiKey] ?? -1)
    return api.minVersion <= maxVersion ? [{ ...api, maxVersion }] : []
  })
  return { ...whole, apiKeys }
}

function answer(correlationId: number, response: ApiVersionsResponse, version: number): Buffer {
  const header = Buffer.alloc(4)
  header.writeInt32BE(correlationId)
  return frameOf(header, ApiVersionsApi.response.encode(response, version))
}
