/** Columns of a grid where there is little room. */
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { type GridColumn, inOrder, shownColumns } from './grid-column.ts'

const column = (name: string, more: Partial<GridColumn<number>> = {}): GridColumn<number> => ({
  ...{ name, head: name, width: '1fr', show: () => null },
  ...more,
})
const names = (columns: readonly GridColumn<number>[]) => columns.map(({ name }) => name)

test('with little room the title comes first, and extras are left out', () => {
  const columns = [column('time'), column('subject', { isTitle: true }), column('why', { isExtra: true })]
  deepEqual(names(shownColumns(columns, false)), ['time', 'subject', 'why'])
  deepEqual(names(shownColumns(columns, true)), ['subject', 'time'])
})

test('rows whose key is not known come last, whichever way they are sorted', () => {
  const columns = [column('size', { sortBy: value => (value === 0 ? null : value) })]
  deepEqual(inOrder([2, 0, 1], columns, { column: 'size', descending: false }), [1, 2, 0])
  deepEqual(inOrder([2, 0, 1], columns, { column: 'size', descending: true }), [2, 1, 0])
})
