/** Tests of tables on screens of any width. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GAP, layOut, type TextColumn } from './table-layout.ts'
import { cutText, displayWidth, wrapText } from './text-width.ts'

const column = (heading: string, ...cells: string[]): TextColumn => ({ heading, cells, numeric: false })

test('what fits stays as it is, also empty columns', () => {
  const columns = [column('Name', 'a'), column('Error', '')]
  deepStrictEqual(layOut(columns, 80), { facts: [], columns })
})

test('empty columns go first, then text is wrapped, then common values are said once', () => {
  const text = 'a sentence of many words that is longer than the screen'
  const all = [
    column('Name', 'a', 'b'),
    column('Empty', '', ''),
    column('Link', 'west', 'west'),
    column('Text', text, text),
  ]
  deepStrictEqual(
    layOut(all, 66).columns.map(({ heading }) => heading),
    ['Name', 'Link', 'Text'],
  )
  ok(layOut(all, 50).columns[2]?.cells[0]?.includes('\n'))
  const narrow = layOut([column('Name', 'a', 'b'), column('Link', 'w'.repeat(30), 'w'.repeat(30))], 20)
  deepStrictEqual(narrow.facts, [['Link', 'w'.repeat(30)]])
})

test('where nothing fits, rows become lists of facts', () => {
  deepStrictEqual(layOut([column('A', 'x'.repeat(90)), column('B', 'y'.repeat(90))], 40).columns, [])
})

test('a table is never wider than the screen', () => {
  const cell = fc.string({ maxLength: 40 }).map(text => text.replace(/\s+/g, ' ').trim())
  const rows = fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(rows, fc.integer({ min: 10, max: 120 }), (data, width) => {
      const headings = ['Name', 'A Long Heading', 'X']
      const { columns } = layOut(
        headings.map((heading, index) => column(heading, ...data.map(row => row[index] ?? ''))),
        width,
      )
      const widest = ({ heading, cells }: TextColumn) =>
        Math.max(...[heading, ...cells].flatMap(text => text.split('\n').map(displayWidth)))
      const total = columns.reduce((sum, each) => sum + widest(each), 0) + GAP * Math.max(0, columns.length - 1)
      ok(columns.length === 0 || total <= width, `${total} > ${width}`)
    }),
  )
})

test('wide and combining characters are counted as they are shown', () => {
  strictEqual(displayWidth('日本'), 4)
  strictEqual(displayWidth('e\u0301'), 1)
  strictEqual(cutText('日本語', 5), '日本…')
  strictEqual(wrapText('one two three', 7), 'one two\nthree')
  strictEqual(wrapText('abcdefgh', 3), 'abc\ndef\ngh')
})
