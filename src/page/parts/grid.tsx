/** A table of any length: only rows that are seen are drawn. Sorted by its heads, walked and selected by keyboard. Views give it rows and columns. */
import { useSignal } from '@preact/signals'
import { useEffect, useId, useRef } from 'preact/hooks'
import { type GridColumn, type GridProps, shownColumns } from './grid-column.ts'
import { GridHead } from './grid-head.tsx'
import { choose, type KeyTarget, moveByKey } from './grid-keys.ts'
import { isNarrow } from './narrow.ts'
import { topThatShows, windowOfRows } from './window-of-rows.ts'

const ROW_HEIGHT = 42
/** With little room the title has a line of its own. */
const TWO_LINES_HEIGHT = 68

export function Grid<T>(props: GridProps<T>) {
  const { label, rows, keyOf, none, selected, open } = props
  const columns = shownColumns(props.columns, isNarrow.value)
  const hasTwoLines = isNarrow.value && columns[0]?.isTitle === true
  const rowHeight = hasTwoLines ? TWO_LINES_HEIGHT : ROW_HEIGHT
  const id = useId()
  const box = useRef<HTMLDivElement>(null)
  const scrolled = useSignal({ top: 0, height: 600 })
  const active = useSignal(0)
  const seen = { ...scrolled.value, rowHeight }
  const { from, to } = windowOfRows(rows.length, seen)
  const at = Math.min(active.value, Math.max(0, rows.length - 1))
  const measure = () => {
    const element = box.current
    const { top, height } = scrolled.peek()
    if (!element || (element.scrollTop === top && element.clientHeight === height)) return
    scrolled.value = { top: element.scrollTop, height: element.clientHeight }
  }
  useEffect(() => {
    const element = box.current
    if (!element) return
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const target: KeyTarget<T> = {
    ...{ rows, keyOf, selected, open, active, at },
    pageRows: Math.max(1, Math.floor(seen.height / rowHeight) - 2),
    reveal: row => {
      if (box.current) box.current.scrollTop = topThatShows(row, seen)
    },
  }
  const tracks = (hasTwoLines ? columns.slice(1) : columns).map(({ width }) => width)
  const template = [...(selected ? ['36px'] : []), ...tracks].join(' ')
  return (
    <div class="grid-box card">
      {/* biome-ignore lint/a11y/useSemanticElements: a table element cannot leave rows out */}
      <div
        class={`grid ${hasTwoLines ? 'two-lines' : ''}`}
        role="grid"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        aria-multiselectable={selected !== undefined}
        {...(at >= from && at < to ? { 'aria-activedescendant': `${id}-${at}` } : {})}
        tabIndex={0}
        ref={box}
        onScroll={measure}
        onKeyDown={event => moveByKey(event, target)}
      >
        <GridHead {...props} columns={columns} template={template} />
        {rows.length === 0 ? null : (
          // biome-ignore lint/a11y/useSemanticElements: as above
          <div role="rowgroup" class="grid-rows" style={{ height: `${rows.length * rowHeight}px` }}>
            {rows.slice(from, to).map((row, offset) => (
              <GridRow
                key={keyOf(row)}
                {...{ row, columns, template, target, rowHeight }}
                id={`${id}-${from + offset}`}
                index={from + offset}
              />
            ))}
          </div>
        )}
      </div>
      {rows.length === 0 ? <p class="nothing">{none}</p> : null}
    </div>
  )
}

const classOf = <T,>({ isFigure, isTitle }: GridColumn<T>): string =>
  `${isFigure ? 'figure' : ''} ${isTitle ? 'grid-title' : ''}`

interface RowProps<T> {
  readonly row: T
  readonly columns: readonly GridColumn<T>[]
  readonly template: string
  readonly rowHeight: number
  readonly target: KeyTarget<T>
  readonly id: string
  readonly index: number
}

function GridRow<T>({ row, columns, template, rowHeight, target, id, index }: RowProps<T>) {
  const { selected, keyOf, open } = target
  const key = keyOf(row)
  const isSelected = selected?.value.has(key) ?? false
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus and names its active row
    // biome-ignore lint/a11y/useSemanticElements: as above
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid hears the keys
    <div
      role="row"
      id={id}
      aria-rowindex={index + 2}
      {...(selected ? { 'aria-selected': isSelected } : {})}
      class={`grid-row ${index === target.at ? 'active' : ''} ${isSelected ? 'selected' : ''} ${open ? 'opens' : ''}`}
      style={{ top: `${index * rowHeight}px`, gridTemplateColumns: template }}
      onClick={event => {
        target.active.value = index
        if (!(event.target as Element).closest('a, button, input')) open?.(row)
      }}
    >
      {selected ? (
        // biome-ignore lint/a11y/useSemanticElements: as above
        // biome-ignore lint/a11y/useFocusableInteractive: as above
        <span role="gridcell" class="grid-mark">
          <input
            type="checkbox"
            tabIndex={-1}
            checked={isSelected}
            aria-label={`Select ${key}`}
            onClick={event => {
              event.stopPropagation()
              choose(target, index, event.shiftKey)
            }}
          />
        </span>
      ) : null}
      {columns.map(column => (
        // biome-ignore lint/a11y/useSemanticElements: as above
        // biome-ignore lint/a11y/useFocusableInteractive: as above
        <span role="gridcell" key={column.name} class={classOf(column)}>
          {column.show(row)}
        </span>
      ))}
    </div>
  )
}
