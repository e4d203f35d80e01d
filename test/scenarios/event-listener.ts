// A client of a node's server-sent events: reads until it has what it waits for; used by the suite of verify, history and events.
import { request } from 'node:http'
import type { LockstepNode } from '../lockstep-process.ts'

const RETRY_MS = 100

/** One event as it came. */
export interface HeardEvent {
  readonly id: string | undefined
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

export class EventListener {
  readonly heard: HeardEvent[] = []
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>
  #call: ReturnType<typeof request> | undefined
  #retry: NodeJS.Timeout | undefined
  #text = ''

  /** With `lastEventId` it goes on behind that event. */
  constructor(node: LockstepNode, lastEventId?: string) {
    this.#url = `${node.rest.origin}/kafka/v3/clusters/${node.clusterId}/events`
    this.#headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
    this.#ask()
  }

  /** The last id that it saw. */
  get lastId(): string | undefined {
    return this.heard.findLast(({ id }) => id !== undefined)?.id
  }

  close(): void {
    clearTimeout(this.#retry)
    this.#call?.destroy()
  }

  /** A node that has just started answers 503 until it has taken over the state of links. */
  #ask(): void {
    this.#call = request(this.#url, { headers: this.#headers, agent: false }, answer => {
      if (answer.statusCode !== 200) {
        answer.resume()
        this.#retry = setTimeout(() => this.#ask(), RETRY_MS)
        return
      }
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => this.#take(chunk))
      answer.on('error', () => {})
    })
    this.#call.on('error', () => {})
    this.#call.end()
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
