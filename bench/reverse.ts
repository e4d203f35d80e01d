/** How long it takes to turn many mirrors round by one command, how long nobody can write a topic meanwhile, and in how much memory: `npm run bench:reverse`. */
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { ManyReversed, type ReversedFigures } from '../test/scenarios/many-reversed.ts'

const { values } = parseArgs({
  options: { topics: { type: 'string', default: '500' }, rounds: { type: 'string', default: '4' } },
})
const seconds = (ms: number | undefined): string => `${((ms ?? Number.NaN) / 1000).toFixed(2)} s`

console.log(`${values.topics} topics; load of the machine ${loadavg()[0]?.toFixed(1)}`)
const many = await ManyReversed.start(Number(values.topics))
try {
  const { east, west } = many.world
  for (let round = 0; round < Number(values.rounds); round++) {
    const [mirror, source] = round % 2 === 0 ? [west, east] : [east, west]
    await many.produce(source, 5)
    await many.inStep()
    report(round, await many.reverse(mirror, source))
  }
} finally {
  await many.close()
}

function report(round: number, { writableMs, followedMs, windowsMs, memoryMib }: ReversedFigures): void {
  const at = (share: number) => seconds(windowsMs[Math.floor((windowsMs.length - 1) * share)])
  console.log(
    [
      `round ${round + 1}: all writable after ${seconds(writableMs)}, all followed after ${seconds(followedMs)}`,
      `  nobody could write a topic for ${at(0)} at least, ${at(0.5)} median, ${at(0.99)} p99, ${at(1)} at most`,
      `  memory of the old mirror's node ${memoryMib[0]} MiB, of the old source's ${memoryMib[1]} MiB`,
    ].join('\n'),
  )
}
