// The tests of the failback suites: the whole way there and back between two sides of any shape, undisturbed and with kill -9 between its steps.
import { after, before, type TestContext, test } from 'node:test'
import { skipWithout } from '../requirements.ts'
import { chosenRounds, chosenSeed } from './chance.ts'
import { FailbackCycle } from './failback-cycle.ts'
import { FailbackKills } from './failback-kills.ts'
import type { SiteShape } from './failback-site.ts'
import { type FailbackWorld, startFailbackWorld } from './failback-world.ts'

interface FailbackOptions {
  /** What is lost, and comes back. */
  readonly east: SiteShape
  readonly west: SiteShape
  /** At most, on each way. */
  readonly kills: number
}

export function testFailback({ kills: count, ...shapes }: FailbackOptions): void {
  const skip = skipWithout('java', 'python')
  let world: FailbackWorld

  before(async () => {
    if (skip === false) world = await startFailbackWorld(shapes)
  })
  after(() => world?.close())

  const run = async (t: TestContext, topic: string, around?: FailbackKills['around']): Promise<void> => {
    const tell = (text: string) => t.diagnostic(text)
    const cycle = new FailbackCycle({ ...world, topic, tell, ...(around && { around }) })
    try {
      await cycle.run()
    } finally {
      await cycle.close()
    }
  }

  test(
    'a source is lost under load, its mirror goes on, and it comes back without a record or an offset lost',
    {
      skip,
    },
    t => run(t, 'orders'),
  )

  test('the same way, whoever is killed between its steps', { skip }, async t => {
    const { east, west } = world
    const tell = (text: string) => t.diagnostic(text)
    const first = chosenSeed()
    for (let round = 0; round < chosenRounds(1); round++) {
      const seed = first + round
      tell(`LOCKSTEP_SEED=${seed}`)
      const kills = new FailbackKills({ sites: [east, west], seed, count, tell })
      await run(t, `round-${round}`, kills.around)
    }
  })
}
