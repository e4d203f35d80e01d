// A client of a node's server-sent events: reads until it has what it waits for; used by the suite of verify, history and events.
import { request } from 'node:http'
import type { LockstepNode } from '../lockstep-process.ts'

/** One event as it came. */
export interface HeardEvent {
  readonly id: string | undefined
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

export class EventListener {
  readonly heard: HeardEvent[] = []
  readonly #call: ReturnType<typeof request>
  #text = ''

  /** With `lastEventId` it goes on behind that event. */
  constructor(node: LockstepNode, lastEventId?: string) {
    const url = `${node.rest.origin}/kafka/v3/clusters/${node.clusterId}/events`
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
    this.#call = request(url, { headers, agent: false }, answer => {
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => this.#take(chunk))
      answer.on('error', () => {})
    })
    this.#call.on('error', () => {})
    this.#call.end()
  }

  /** The last id that it saw. */
  get lastId(): string | undefined {
    return this.heard.findLast(({ id }) => id !== undefined)?.id
  }

  close(): void {
    this.#call.destroy()
  }

  #take(chunk: string): void {
    this.#text += chunk
    const parts = this.#text.split('\n\n')
    this.#text = parts.pop() ?? ''
    for (const part of parts) {
      const type = /^event: (.*)$/m.exec(part)?.[1]
      if (type === undefined) continue
      const data = JSON.parse(/^data: (.*)$/m.exec(part)?.[1] ?? '{}')
      this.heard.push({ id: /^id: (.*)$/m.exec(part)?.[1], type, data })
    }
  }
}
