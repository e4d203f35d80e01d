/** Server-sent events, from the pieces of text that a connection gives; used by the event feed. Pure. */

export interface ParsedEvent {
  readonly id: string | undefined
  readonly event: string
  readonly data: string
}

export class EventParser {
  #rest = ''

  /** Events that are complete with this piece. Comments are left out. */
  push(piece: string): ParsedEvent[] {
    const blocks = (this.#rest + piece).split('\n\n')
    this.#rest = blocks.pop() ?? ''
    return blocks.flatMap(parsedBlock)
  }
}

function parsedBlock(block: string): ParsedEvent[] {
  let id: string | undefined
  let event = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    const at = line.indexOf(':')
    const name = line.slice(0, at)
    const value = line.slice(at + 1).replace(/^ /, '')
    if (name === 'id') id = value
    if (name === 'event') event = value
    if (name === 'data') data.push(value)
  }
  return data.length === 0 ? [] : [{ id, event, data: data.join('\n') }]
}
