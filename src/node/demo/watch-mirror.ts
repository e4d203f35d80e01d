/** Shows one mirror until the demo ends: a table redrawn in place on a terminal, a line now and then elsewhere. Called by the live demos. */
import { sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { DemoStage } from './demo-stage.ts'
import { LiveView } from './live-view.ts'
import { type MirrorFigures, MirrorMeter } from './mirror-meter.ts'
import { clip, drawMirror, mirrorLine } from './mirror-table.ts'
import type { NodeProcess } from './node-process.ts'

const DRAW_PERIOD_MS = 500
const LINE_PERIOD_MS = 5000
const ROWS_DEFAULT = 24

export interface WatchedMirror {
  /** The node that mirrors. */
  readonly node: NodeProcess
  readonly link: string
  readonly topic: string
  /** What is said below the table, before how to end. */
  readonly footer: () => readonly string[]
}

export class MirrorWatch {
  readonly #stage: DemoStage
  readonly #watched: WatchedMirror
  readonly #meter = new MirrorMeter()
  readonly #view: LiveView

  constructor(stage: DemoStage, watched: WatchedMirror) {
    this.#stage = stage
    this.#watched = watched
    this.#view = new LiveView(stage.io)
  }

  /** Prints a line for good, above the table. */
  print(text: string): void {
    this.#view.print(text)
  }

  /** Runs until the stage ends. */
  async run(): Promise<void> {
    const { clock, signal, io } = this.#stage
    try {
      while (!signal.aborted) {
        await this.#show()
        await sleep(clock, io.interactive ? DRAW_PERIOD_MS : LINE_PERIOD_MS, signal)
      }
    } finally {
      this.#view.end()
    }
  }

  async #show(): Promise<void> {
    const { io, clock, signal } = this.#stage
    const { node, link, topic, footer } = this.#watched
    try {
      const figures = this.#meter.measure(await node.rest.mirror(link, topic), clock.monotonicMs())
      if (signal.aborted) return
      if (!io.interactive) return io.out(`${mirrorLine(figures)}\n`)
      const below = ['', ...footer(), ...stoppedNote(figures, node), END_NOTE]
      const columns = io.columns()
      const canvas = { columns, rows: (io.rows?.() ?? ROWS_DEFAULT) - below.length, colour: coloured() }
      this.#view.draw([...drawMirror(figures, canvas), ...below.map(line => clip(line, columns - 1))])
    } catch (error) {
      // The node may be busy or the mirror deleted by hand: that is worth showing, and no reason to end.
      const text = `node ${node.name}: ${messageOf(error)}`
      if (signal.aborted) return
      if (io.interactive) this.#view.draw([clip(text, io.columns() - 1), '', END_NOTE])
      else io.out(`${text}\n`)
    }
  }
}

const END_NOTE = 'Ctrl-C ends the demo.'

const stoppedNote = ({ status, topic }: MirrorFigures, node: NodeProcess): string[] =>
  status === 'STOPPED' ? [`On ${node.name} ${topic} is an ordinary topic now: write to it.`] : []

const coloured = (): boolean => (process.env['NO_COLOR'] ?? '') === ''
