/** Server-sent events out of the bytes of an answer; used by `events` and `verify`. */

export interface ServerEvent {
  /** Empty where the server gave none. */
  readonly id: string
  /** `message` where the server names none. */
  readonly event: string
  readonly data: string
}

/** A line longer than this is no event. */
const LINE_CHARS_MAX = 4 * 1024 * 1024

/** Yields complete events; comments and unknown fields are passed over, as the standard says. */
export async function* serverEvents(answer: AsyncIterable<Buffer>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  let fields = new Map<string, string>()
  for await (const chunk of answer) {
    rest += decoder.decode(chunk, { stream: true })
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    if (rest.length > LINE_CHARS_MAX) throw new Error('the node sends an event that has no end')
    for (const line of lines) {
      if (line !== '') addField(fields, line)
      else if (fields.size > 0) {
        const { id = '', event = 'message', data } = Object.fromEntries(fields)
        if (data !== undefined) yield { id, event, data }
        fields = new Map()
      }
    }
  }
}

function addField(fields: Map<string, string>, line: string): void {
  const at = line.indexOf(':')
  if (at === 0) return
  const name = at < 0 ? line : line.slice(0, at)
  const value = at < 0 ? '' : line.slice(at + 1).replace(/^ /, '')
  const before = name === 'data' ? fields.get('data') : undefined
  fields.set(name, before === undefined ? value : `${before}\n${value}`)
}
