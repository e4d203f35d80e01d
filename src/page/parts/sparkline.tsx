/** A small line without axes: how a figure went lately. What it says is in words beside it. */

interface SparklineProps {
  /** Oldest first; null = not known then. */
  readonly values: readonly (number | null)[]
  readonly tone?: 'accent' | 'good'
}

const WIDTH = 120
const HEIGHT = 32

export function Sparkline({ values, tone = 'accent' }: SparklineProps) {
  const shown = values.slice(-60)
  const max = Math.max(1, ...shown.map(value => value ?? 0))
  const at = (index: number) => (shown.length < 2 ? 0 : (index / (shown.length - 1)) * WIDTH)
  const height = (value: number) => HEIGHT - 2 - (value / max) * (HEIGHT - 4)
  let line = ''
  let isOpen = false
  for (const [index, value] of shown.entries()) {
    if (value !== null) line += `${isOpen ? 'L' : 'M'}${at(index).toFixed(1)} ${height(value).toFixed(1)}`
    isOpen = value !== null
  }
  if (line === '') return null
  return (
    <svg class={`sparkline ${tone}`} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={line} />
    </svg>
  )
}
