/** A line over time with axes, drawn by uPlot; follows the colours of the page. Views of links and mirrors show it. */
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { isDark } from './theme.ts'

interface ChartProps {
  readonly title: string
  /** What it says, for those who do not see it. */
  readonly summary: string
  readonly timesMs: readonly number[]
  readonly values: readonly (number | null)[]
  readonly format: (value: number) => string
  /** Values are bytes: lines are drawn at powers of two. */
  readonly isBytes?: boolean
  readonly tone: 'accent' | 'good' | 'warn'
}

const HEIGHT = 168
/** A chart that has just begun is drawn as a part of the last minute. */
const SPAN_MIN_S = 60
const POWERS_OF_TWO = Array.from({ length: 42 }, (_, exponent) => 2 ** exponent)
const ROUND_NUMBERS = Array.from({ length: 13 }, (_, exponent) => [1, 2, 5].map(digit => digit * 10 ** exponent)).flat()

export function Chart({ title, summary, timesMs, values, format, tone, isBytes = false }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const dark = isDark()
  useEffect(() => {
    const element = box.current
    if (!element) return
    const made = new uPlot(optionsOf(element, { tone, format, title, isBytes }), [[], []], element)
    plot.current = made
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [dark, tone])
  useEffect(() => {
    plot.current?.setData([timesMs.map(ms => ms / 1000), [...values]])
  }, [timesMs, values, dark])
  return (
    <section class="card chart">
      <div class="chart-head">
        <h3>{title}</h3>
        <span class="live-figure">{summary}</span>
      </div>
      <div ref={box} class="chart-box" role="img" aria-label={`${title}: ${summary}`} />
    </section>
  )
}

function optionsOf(
  element: HTMLElement,
  look: Pick<ChartProps, 'tone' | 'format' | 'title' | 'isBytes'>,
): uPlot.Options {
  const style = getComputedStyle(element)
  // A colour as the page resolves it: the canvas does not know its variables.
  const colour = (name: string): string => {
    element.style.color = `var(--${name})`
    const found = style.color
    element.style.color = ''
    return found
  }
  const axis: uPlot.Axis = {
    stroke: colour('muted'),
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
    font: `11px ${style.fontFamily}`,
  }
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false },
    scales: {
      x: { range: (_plot, min, max) => [Math.min(min, max - SPAN_MIN_S), max] },
      y: { range: (_plot, _min, max) => [0, Math.max(look.isBytes ? 1024 : 5, max * 1.1)] },
    },
    axes: [
      { ...axis, size: 32, gap: 8, space: 90, values: '{HH}:{mm}:{ss}' },
      {
        ...axis,
        size: 72,
        space: 36,
        incrs: look.isBytes ? POWERS_OF_TWO : ROUND_NUMBERS,
        values: (_plot, ticks) => ticks.map(look.format),
      },
    ],
    series: [
      {},
      {
        label: look.title,
        stroke: colour(look.tone),
        width: 1.75,
        points: { show: false },
        fill: `color-mix(in srgb, ${colour(look.tone)} 12%, transparent)`,
      },
    ],
  }
}
