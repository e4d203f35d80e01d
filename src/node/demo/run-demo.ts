/** `lockstep demo`: chooses the scene, plays it, ends what it started and says how it went; called by bin/lockstep. */
import { messageOf } from '../../core/errors.ts'
import { DemoError, DemoRefusal } from './demo-error.ts'
import { type DemoOptions, type DemoPlan, DemoUsageError, planDemo } from './demo-plan.ts'
import { DemoStage } from './demo-stage.ts'
import { playFollow } from './follow-scene.ts'
import { playLive } from './live-scene.ts'
import type { DemoIo } from './live-view.ts'
import { playOnce } from './once-scene.ts'

const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const
const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Resolves to the exit code; nothing that the demo started runs any more then. */
export async function runDemo(options: DemoOptions, io: DemoIo): Promise<number> {
  let plan: DemoPlan
  try {
    plan = planDemo(options)
  } catch (error) {
    if (!(error instanceof DemoUsageError)) throw error
    io.err(`Error: ${error.message}\n`)
    return EXIT.usage
  }
  const stage = await DemoStage.set(io)
  const end = () => stage.end()
  for (const signal of END_SIGNALS) process.on(signal, end)
  try {
    return await perform(stage, plan)
  } finally {
    for (const signal of END_SIGNALS) process.off(signal, end)
  }
}

async function perform(stage: DemoStage, plan: DemoPlan): Promise<number> {
  const { io } = stage
  try {
    const lastLine = await play(stage, plan)
    await stage.close({ keepFolder: false })
    io.out(`${lastLine ?? `Ended; the data in ${stage.folder} is removed.`}\n`)
    return EXIT.ok
  } catch (error) {
    if (stage.signal.aborted) {
      await stage.close({ keepFolder: false })
      io.err(`Interrupted; the data in ${stage.folder} is removed.\n`)
      return plan.kind === 'once' ? EXIT.interrupted : EXIT.ok
    }
    // Somebody else's Kafka that cannot be mirrored explains itself; for anything else the logs may tell why.
    const keepFolder = !(plan.kind === 'follow' && error instanceof DemoRefusal)
    await stage.close({ keepFolder })
    io.err(`Error: ${messageOf(error)}\n`)
    if (error instanceof DemoError && error.hint !== undefined) io.err(`Hint: ${error.hint}\n`)
    if (keepFolder) io.err(`The nodes are ended; their logs (node.log) and data are kept in ${stage.folder}\n`)
    return EXIT.failed
  }
}

/** The line to end with, if the scene has one. */
async function play(stage: DemoStage, plan: DemoPlan): Promise<string | undefined> {
  switch (plan.kind) {
    case 'once':
      return playOnce(stage, plan.records)
    case 'live':
      await playLive(stage)
      return undefined
    case 'follow':
      await playFollow(stage, plan)
      return undefined
  }
}
