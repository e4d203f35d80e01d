/** `lockstep demo`: chooses the scene; called by bin/lockstep. */
import { DemoRefusal } from './demo-error.ts'
import { type DemoOptions, type DemoPlan, DemoUsageError, planDemo } from './demo-plan.ts'
import type { DemoStage } from './demo-stage.ts'
import { playFollow } from './follow-scene.ts'
import { playLive } from './live-scene.ts'
import type { DemoIo } from './live-view.ts'
import { playOnce } from './once-scene.ts'
import { perform } from './perform-scene.ts'

const EXIT_USAGE = 2

/** Resolves to the exit code; nothing that the demo started runs any more then. */
export async function runDemo(options: DemoOptions, io: DemoIo): Promise<number> {
  let plan: DemoPlan
  try {
    plan = planDemo(options)
  } catch (error) {
    if (!(error instanceof DemoUsageError)) throw error
    io.err(`Error: ${error.message}\n`)
    return EXIT_USAGE
  }
  return await perform(io, {
    entry: process.argv[1] ?? '',
    endless: plan.kind !== 'once',
    // Somebody else's Kafka that cannot be mirrored explains itself; for anything else the logs may tell why.
    explainsItself: error => plan.kind === 'follow' && error instanceof DemoRefusal,
    play: stage => play(stage, plan),
  })
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
