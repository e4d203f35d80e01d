/** Redrawing in place, played on a small model of a terminal. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { LiveView } from './live-view.ts'

/** Understands what the view sends: text, newlines, carriage return, cursor up, clear line, clear below, cursor on and off. */
class Screen {
  readonly columns: number
  readonly lines: string[] = ['']
  cursorShown = true
  #row = 0
  #column = 0

  constructor(columns: number) {
    this.columns = columns
  }

  write(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the control sequences are what is read here
    for (const [part, up] of text.matchAll(/\u001b\[(?:\?25[lh]|(\d*)A|K|J)|[\s\S]/g)) this.#take(part, up)
  }

  get shown(): string[] {
    return this.lines.map(line => line.trimEnd())
  }

  #take(part: string, up: string | undefined): void {
    if (part === '\n') {
      this.#row++
      this.#column = 0
    } else if (part === '\r') this.#column = 0
    else if (part.endsWith('A') && part.length > 1) this.#row -= Number(up)
    else if (part === '\u001b[K') this.#set((this.lines[this.#row] ?? '').slice(0, this.#column))
    else if (part === '\u001b[J') {
      this.lines.length = this.#row + 1
      this.#set((this.lines[this.#row] ?? '').slice(0, this.#column))
    } else if (part === '\u001b[?25l') this.cursorShown = false
    else if (part === '\u001b[?25h') this.cursorShown = true
    else {
      const line = this.lines[this.#row] ?? ''
      this.#set(line.slice(0, this.#column).padEnd(this.#column) + part + line.slice(this.#column + 1))
      this.#column++
    }
    this.lines[this.#row] ??= ''
  }

  #set(line: string): void {
    this.lines[this.#row] = line
  }
}

function viewOf(columns = 40) {
  const screen = new Screen(columns)
  let width = columns
  const view = new LiveView({ out: text => screen.write(text), columns: () => width })
  const setWidth = (value: number) => {
    width = value
  }
  return { screen, view, setWidth }
}

test('a block replaces the one before, whatever their sizes', () => {
  const { screen, view } = viewOf()
  screen.write('before\n')
  view.draw(['one', 'two', 'three'])
  strictEqual(screen.cursorShown, false)
  deepStrictEqual(screen.shown, ['before', 'one', 'two', 'three', ''])
  view.draw(['1', '2'])
  deepStrictEqual(screen.shown, ['before', '1', '2', ''])
  view.draw(['long line', '', 'third', 'fourth'])
  deepStrictEqual(screen.shown, ['before', 'long line', '', 'third', 'fourth', ''])
})

test('a printed line stays above the block', () => {
  const { screen, view } = viewOf()
  view.print('first')
  view.draw(['a', 'b'])
  view.print('second')
  view.draw(['c'])
  deepStrictEqual(screen.shown, ['first', 'second', 'c', ''])
})

test('at the end the block stays and the cursor is back', () => {
  const { screen, view } = viewOf()
  view.draw(['a'])
  view.end()
  strictEqual(screen.cursorShown, true)
  screen.write('after\n')
  deepStrictEqual(screen.shown, ['a', 'after', ''])
  view.end()
  strictEqual(screen.cursorShown, true)
})

test('a terminal that has become narrower wraps what is on it, and the view counts that', () => {
  const sent: string[] = []
  let columns = 40
  const view = new LiveView({ out: text => sent.push(text), columns: () => columns })
  view.draw(['x'.repeat(39), '\u001b[32mgreen\u001b[39m', ''])
  columns = 20
  view.draw(['y'])
  // 2 rows for the first line, 1 for the coloured one, 1 for the empty one.
  strictEqual(sent.at(-1)?.startsWith('\r\u001b[4A'), true)
})
