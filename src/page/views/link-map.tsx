/** This cluster in the middle, linked clusters around it: a picture of what the cards below say. Part of the overview. */
import type { LinkData } from '../../rest/schemas/links.ts'
import { clusterId } from '../api/paths.ts'
import { linkHref } from '../live/problems.ts'
import { toneOf } from '../parts/status.tsx'
import { durationText, numberText, statusWords } from '../text/figures.ts'

const WIDTH = 960
const BOX = { width: 250, height: 66, gap: 22 }
const CENTRE = { width: 230, height: 84 }

export function LinkMap({ links }: { readonly links: readonly LinkData[] }) {
  const onLeft = links.filter((_, index) => index % 2 === 0)
  const onRight = links.filter((_, index) => index % 2 === 1)
  const rows = Math.max(onLeft.length, onRight.length)
  const height = Math.max(CENTRE.height, rows * (BOX.height + BOX.gap) - BOX.gap) + 24
  const centreX = onRight.length === 0 ? WIDTH - CENTRE.width / 2 - 8 : WIDTH / 2
  const width = onRight.length === 0 ? 620 : WIDTH
  const middle = onRight.length === 0 ? width - CENTRE.width / 2 - 8 : centreX
  const places = [
    ...onLeft.map((link, row) => ({ link, x: 8, y: rowTop(row, onLeft.length, height), side: 1 })),
    ...onRight.map((link, row) => ({
      link,
      x: WIDTH - BOX.width - 8,
      y: rowTop(row, onRight.length, height),
      side: -1,
    })),
  ]
  return (
    <figure class="card map" aria-label="Linked clusters">
      <svg viewBox={`0 0 ${width} ${height}`} class={onRight.length === 0 ? 'one-sided' : ''}>
        <title>Linked clusters around this one</title>
        {places.map(({ link, x, y, side }) => (
          <path
            key={link.link_name}
            class={`wire ${toneOf(link.link_state)}`}
            d={wire({ x, y, side, middle, height })}
          />
        ))}
        {places.map(({ link, x, y }) => (
          <Remote key={link.link_name} link={link} x={x} y={y} />
        ))}
        <g transform={`translate(${middle - CENTRE.width / 2} ${(height - CENTRE.height) / 2})`} class="here">
          <rect width={CENTRE.width} height={CENTRE.height} rx="12" />
          <text x={CENTRE.width / 2} y="36" class="title">
            This cluster
          </text>
          <text x={CENTRE.width / 2} y="58" class="small">
            {clusterId.value}
          </text>
        </g>
      </svg>
    </figure>
  )
}

const rowTop = (row: number, rows: number, height: number) =>
  (height - (rows * (BOX.height + BOX.gap) - BOX.gap)) / 2 + row * (BOX.height + BOX.gap)

interface Wire {
  readonly x: number
  readonly y: number
  /** 1 = the cluster is on the left. */
  readonly side: number
  readonly middle: number
  readonly height: number
}

/** From the box to the centre, with the head of an arrow there: data comes this way. */
function wire({ x, y, side, middle, height }: Wire): string {
  const from = { x: side > 0 ? x + BOX.width : x, y: y + BOX.height / 2 }
  const to = { x: middle - side * (CENTRE.width / 2 + 4), y: height / 2 }
  const bend = (to.x - from.x) / 2
  const curve = `M${from.x} ${from.y}C${from.x + bend} ${from.y} ${to.x - bend} ${to.y} ${to.x} ${to.y}`
  return `${curve}m${-8 * side} -5l${8 * side} 5l${-8 * side} 5`
}

function Remote({ link, x, y }: { readonly link: LinkData; readonly x: number; readonly y: number }) {
  const tone = toneOf(link.link_state)
  return (
    <a href={linkHref(link.link_name)} class={`remote ${tone}`}>
      <g transform={`translate(${x} ${y})`}>
        <rect width={BOX.width} height={BOX.height} rx="10" />
        <circle cx="20" cy="25" r="5" />
        <text x="34" y="30" class="title">
          {shortened(link.link_name, 24)}
        </text>
        <text x="34" y="50" class="small">
          {statusWords(link.link_state)} · {lagText(link)}
        </text>
      </g>
    </a>
  )
}

function lagText({ topic_names: topics, max_lag: lag, max_lag_ms: lagMs }: LinkData): string {
  if (topics.length === 0) return 'no mirrors'
  return lag === null ? 'lag not known' : `${numberText(lag)} behind, ${durationText(lagMs)}`
}

const shortened = (text: string, length: number) => (text.length > length ? `${text.slice(0, length - 1)}…` : text)
