/** Plays a scene of the demo, ends what it started and says how it went; called by those who choose the scene. */
import { messageOf } from '../../core/errors.ts'
import { DemoError } from './demo-error.ts'
import { DemoStage } from './demo-stage.ts'
import type { DemoIo } from './live-view.ts'

export interface DemoScene {
  /** The script that has the `server` command. */
  readonly entry: string
  /** It is ended by hand: an interruption is no failure. */
  readonly endless: boolean
  /** Failures for which nobody has to look into logs. */
  readonly explainsItself: (error: unknown) => boolean
  /** Resolves to the line to end with, if there is one. */
  readonly play: (stage: DemoStage) => Promise<string | undefined>
}

const EXIT = { ok: 0, failed: 1, interrupted: 130 } as const
const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Resolves to the exit code; nothing that the scene started runs any more then. */
export async function perform(io: DemoIo, scene: DemoScene): Promise<number> {
  const stage = await DemoStage.set(io, scene.entry)
  const end = () => stage.end()
  for (const signal of END_SIGNALS) process.on(signal, end)
  try {
    return await performOn(stage, scene)
  } finally {
    for (const signal of END_SIGNALS) process.off(signal, end)
  }
}

async function performOn(stage: DemoStage, scene: DemoScene): Promise<number> {
  const { io } = stage
  try {
    const lastLine = await scene.play(stage)
    await stage.close({ keepFolder: false })
    io.out(`${lastLine ?? `Ended; the data in ${stage.folder} is removed.`}\n`)
    return EXIT.ok
  } catch (error) {
    if (stage.signal.aborted) {
      await stage.close({ keepFolder: false })
      io.err(`Interrupted; the data in ${stage.folder} is removed.\n`)
      return scene.endless ? EXIT.ok : EXIT.interrupted
    }
    const keepFolder = !scene.explainsItself(error)
    await stage.close({ keepFolder })
    io.err(`Error: ${messageOf(error)}\n`)
    if (error instanceof DemoError && error.hint !== undefined) io.err(`Hint: ${error.hint}\n`)
    if (keepFolder) io.err(`The nodes are ended; their logs (node.log) and data are kept in ${stage.folder}\n`)
    return EXIT.failed
  }
}
