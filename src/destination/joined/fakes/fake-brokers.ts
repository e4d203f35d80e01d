/** Brokers of a cluster that answer typed requests from functions, for tests of what a joined node asks them. */
import { ConnectionError } from '../../../network/connection-error.ts'
import type { BrokerLink, BrokerLinks } from '../group-coordinators.ts'

/** What one broker answers: by the name of the request, its decoded form. `undefined` = the connection is lost. */
export type Answers = Readonly<Record<string, (request: never) => unknown>>

export class FakeBrokers implements BrokerLinks {
  readonly answers = new Map<number, Answers>()
  /** `broker request`, in order. */
  readonly asked: string[] = []

  async to(brokerId: number): Promise<BrokerLink> {
    const answers = this.answers.get(brokerId)
    if (!answers) throw new ConnectionError('tcp', `broker ${brokerId} is not there`)
    const versionFor: BrokerLink['versionFor'] = (_key, range) => range?.max ?? 1
    const send: BrokerLink['send'] = async (api, request, { version = Math.min(1, api.request.versions.max) } = {}) => {
      const { name } = api.request
      this.asked.push(`${brokerId} ${name}`)
      // Through the codec: what a broker gets must be there in that version.
      const sent = Buffer.concat(api.request.encodeChunks(request, version))
      const decode = api.request as unknown as { decode(bytes: Buffer, version: number): never }
      const answered = answers[name]?.(decode.decode(sent, version))
      if (answered === undefined) throw new ConnectionError('closed', `broker ${brokerId} went away`)
      const answer = { throttleTimeMs: 0, ...(answered as object) }
      const codec = api.response as unknown as { encode(value: unknown, version: number): Buffer }
      return { version, response: api.response.decode(codec.encode(answer, version), version), release: () => {} }
    }
    return { versionFor, send }
  }
}
