/** `lockstep top`: asks the node again and again and shows lags and rates, on a screen as one picture that is written over. */
import { styleText } from 'node:util'
import type { MirrorDataList } from '../../rest/schemas/mirrors.ts'
import type { CommandAction } from '../command-row.ts'
import type { CommandContext } from '../context.ts'
import { lengthOfTime } from '../number-option.ts'
import { bold, paint, printData } from '../output.ts'
import { pause } from '../pause.ts'
import { mirrorsPath } from '../resource-paths.ts'
import { NodeUnreachable, RestFailure } from '../rest-failure.ts'
import { type Paints, type Picture, pageOf, screenLines, tableLines } from '../top/top-frame.ts'
import { type Sample, SORTS, type Sort, sortedRows, type TopRow, topRows } from '../top/top-rows.ts'
import { afterKey, type TopView } from '../top/top-view.ts'
import { UsageError } from '../usage-error.ts'

interface Options {
  readonly link?: string
  readonly sort?: string
  readonly partitions?: boolean
  readonly interval?: string
  readonly once?: boolean
}

interface Watch {
  readonly link: string | undefined
  readonly intervalMs: number
  readonly view: TopView
}

export const showTop: CommandAction<Options> = async (context, _args, options) => {
  const sort = SORTS.find(known => known === (options.sort ?? 'lag'))
  if (!sort) throw new UsageError(`--sort must be one of ${SORTS.join(', ')}, not "${options.sort}"`)
  const { terminal, format } = context
  const watch: Watch = {
    link: options.link,
    intervalMs: lengthOfTime('--interval', options.interval ?? '1s'),
    view: { sort, reversed: false, byPartition: options.partitions === true, scrolled: 0, paused: false, help: false },
  }
  if (options.once) return printOnce(context, watch)
  await terminal.interruptible(async interrupted => {
    const signal = AbortSignal.any([interrupted, terminal.outClosed])
    await (format === 'human' && terminal.outIsScreen ? live(context, watch, signal) : printed(context, watch, signal))
  })
}

async function sampleOf({ rest }: CommandContext, { link }: Watch): Promise<Sample> {
  const { data } = await rest.get<MirrorDataList>(mirrorsPath(link ?? '-'))
  return { timeMs: performance.now(), mirrors: data.filter(mirror => mirror.mirror_status !== 'STOPPED') }
}

async function printOnce(context: CommandContext, watch: Watch): Promise<void> {
  const rows = topRows(await sampleOf(context, watch), undefined, watch.view.byPartition)
  if (context.format !== 'human') printData(context, dataOf(rows, watch.view.sort))
  else printTable(context, rows, watch.view)
}

/** Without a screen: a table after each interval, or a line of JSON. */
async function printed(context: CommandContext, watch: Watch, signal: AbortSignal): Promise<void> {
  const { terminal, format, toYaml } = context
  let before: Sample | undefined
  while (!signal.aborted) {
    const now = await sampleOf(context, watch)
    const rows = topRows(now, before, watch.view.byPartition)
    const data = { time_ms: Date.now(), rows: dataOf(rows, watch.view.sort) }
    if (toYaml) terminal.out(`---\n${toYaml(data)}`)
    else if (format === 'json') terminal.out(`${JSON.stringify(data)}\n`)
    else {
      terminal.out(`${before ? '\n' : ''}${clock()}\n`)
      printTable(context, rows, watch.view)
    }
    before = now
    await pause(watch.intervalMs, signal)
  }
}

function printTable(context: CommandContext, rows: readonly TopRow[], view: TopView): void {
  const { terminal } = context
  if (rows.length === 0) return terminal.out('No mirror topics.\n')
  const picture = { rows, view, subject: '', time: '', trouble: undefined }
  terminal.out(`${tableLines(picture, terminal.columns(), paintsOf(context)).join('\n')}\n`)
}

const dataOf = (rows: readonly TopRow[], sort: Sort) =>
  sortedRows(rows, sort, false).map(row => ({
    link_name: row.link,
    mirror_topic_name: row.topic,
    ...(row.partition === undefined ? { num_partitions: row.partitions } : { partition: row.partition }),
    mirror_status: row.status,
    lag: row.lag,
    lag_ms: row.lagMs,
    records_per_second: row.recordsPerSecond,
    bytes_per_second: row.bytesPerSecond,
  }))

const clock = () => new Date().toTimeString().slice(0, 8)

function paintsOf({ terminal }: CommandContext): Paints {
  return {
    heading: text => bold(terminal, text),
    state: text => paint(terminal, text),
    trouble: text => (terminal.colours ? styleText('red', text, { validateStream: false }) : text),
  }
}

const ENTER_SCREEN = '\u001b[?1049h\u001b[?25l'
const LEAVE_SCREEN = '\u001b[?25h\u001b[?1049l'

async function live(context: CommandContext, watch: Watch, signal: AbortSignal): Promise<void> {
  // What cannot work is said on the ordinary screen.
  const first = await sampleOf(context, watch)
  const subject = `cluster ${await context.rest.clusterId()}${watch.link === undefined ? '' : `, link ${watch.link}`}`
  const ended = new AbortController()
  const screen = new Screen(context, { watch, subject, first, end: () => ended.abort() })
  context.terminal.out(ENTER_SCREEN)
  const stops = [context.terminal.onKeys(key => screen.press(key)), context.terminal.onResize(() => screen.draw())]
  try {
    const over = AbortSignal.any([signal, ended.signal])
    screen.draw()
    for (;;) {
      await pause(watch.intervalMs, over)
      if (over.aborted) return
      await screen.refresh()
    }
  } finally {
    for (const stop of stops) stop()
    context.terminal.out(LEAVE_SCREEN)
  }
}

interface ScreenStart {
  readonly watch: Watch
  readonly subject: string
  readonly first: Sample
  readonly end: () => void
}

/** The picture on the screen and what it is made of. */
class Screen {
  readonly #context: CommandContext
  readonly #start: ScreenStart
  #view: TopView
  #now: Sample
  #before: Sample | undefined
  #trouble: string | undefined

  constructor(context: CommandContext, start: ScreenStart) {
    this.#context = context
    this.#start = start
    this.#view = start.watch.view
    this.#now = start.first
  }

  press(key: string): void {
    const next = afterKey(this.#view, key, pageOf(this.#size()))
    if (!next) return this.#start.end()
    this.#view = next
    this.draw()
  }

  /** A node that does not answer for a while is told of, not given up. */
  async refresh(): Promise<void> {
    try {
      const sample = await sampleOf(this.#context, this.#start.watch)
      if (!this.#view.paused) {
        this.#before = this.#now
        this.#now = sample
      }
      this.#trouble = undefined
    } catch (error) {
      if (!(error instanceof NodeUnreachable || error instanceof RestFailure)) throw error
      this.#trouble = `${error.message}; trying again`
    }
    this.draw()
  }

  /** One write of the whole picture from the top left: nothing is cleared first, so nothing flickers. */
  draw(): void {
    const lines = screenLines(this.#picture(), this.#size(), paintsOf(this.#context))
    this.#context.terminal.out(`\u001b[H${lines.map(line => `${line}\u001b[K`).join('\r\n')}\u001b[J`)
  }

  #picture(): Picture {
    const { subject } = this.#start
    const rows = topRows(this.#now, this.#before, this.#view.byPartition)
    return { rows, view: this.#view, subject, time: clock(), trouble: this.#trouble }
  }

  #size() {
    const { terminal } = this.#context
    return { columns: terminal.columns(), rows: terminal.rows() }
  }
}
