/** The heads of a grid: names of columns, by which rows are sorted, and the box that chooses all. */
import type { GridColumn, GridProps } from './grid-column.ts'
import { selectAll } from './grid-keys.ts'

interface HeadProps<T> extends GridProps<T> {
  readonly template: string
}

export function GridHead<T>({ rows, columns, keyOf, order, selected, template }: HeadProps<T>) {
  const isAll = selected !== undefined && rows.length > 0 && rows.every(row => selected.value.has(keyOf(row)))
  const sortBy = (column: GridColumn<T>) => {
    if (!order) return
    const { column: by, descending } = order.peek()
    order.value = { column: column.name, descending: by === column.name ? !descending : column.isFigure === true }
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table element cannot leave rows out
    <div role="rowgroup" class="grid-head">
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: its buttons have the focus */}
      <div role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
        {selected ? (
          // biome-ignore lint/a11y/useSemanticElements: as above
          // biome-ignore lint/a11y/useFocusableInteractive: as above
          <span role="columnheader">
            <input
              type="checkbox"
              checked={isAll}
              aria-label="Select all shown"
              onClick={() => selectAll({ rows, keyOf, selected })}
            />
          </span>
        ) : null}
        {columns.map(column => {
          const isBy = order !== undefined && order.value.column === column.name
          const direction = isBy ? (order.value.descending ? 'descending' : 'ascending') : 'none'
          return (
            // biome-ignore lint/a11y/useSemanticElements: as above
            // biome-ignore lint/a11y/useFocusableInteractive: as above
            <span
              role="columnheader"
              key={column.name}
              class={column.isFigure ? 'figure' : ''}
              {...(column.sortBy && order ? { 'aria-sort': direction } : {})}
            >
              {column.sortBy && order ? (
                <button type="button" class={`sort ${direction}`} onClick={() => sortBy(column)}>
                  {column.head}
                </button>
              ) : (
                column.head
              )}
            </span>
          )
        })}
      </div>
    </div>
  )
}
