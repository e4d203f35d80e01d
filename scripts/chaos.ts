/** `npm run chaos`: the suite of chaos with one seed after the other, each printed and in clusters of its own. Needs Java, Maven and Python. */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const usage = `usage: npm run chaos -- [options]
  --seeds N   how many seeds, each in new clusters (default 3)
  --blows N   how often one or two processes are killed, frozen or restarted with each (default 12)
  --from S    the first seed; the others follow it (default: by chance)
To repeat a run: --seeds 1 --from SEED and the same number of blows.`

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '3' },
    blows: { type: 'string', default: '12' },
    from: { type: 'string', default: String(randomInt(2 ** 31)) },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(usage)
  process.exit(0)
}
const [seeds, from] = [Number(values.seeds), Number(values.from)]
const cwd = fileURLToPath(new URL('..', import.meta.url))
const args = ['--test', '--test-isolation=none', '--test-force-exit', 'test/suites/joined-chaos.suite.ts']
const failed: string[] = []
for (let index = 0; index < seeds; index++) {
  const chosen = { LOCKSTEP_SEED: String(from + index), LOCKSTEP_ROUNDS: values.blows }
  const repeat = `npm run chaos -- --seeds 1 --from ${from + index} --blows ${values.blows}`
  console.log(`seed ${index + 1} of ${seeds}: ${repeat}`)
  const env = { ...process.env, ...chosen, LOCKSTEP_REQUIRE_ALL: '1' }
  const child = spawn(process.execPath, args, { cwd, env, stdio: 'inherit' })
  // Whoever ends this ends the clusters too.
  const end = () => child.kill('SIGTERM') && process.exit(1)
  process.once('SIGTERM', end)
  const [status] = await once(child, 'close')
  process.off('SIGTERM', end)
  if (status !== 0) failed.push(repeat)
}
console.log(
  failed.length === 0 ? `${seeds} seeds held` : `${failed.length} of ${seeds} seeds failed:\n${failed.join('\n')}`,
)
process.exitCode = failed.length === 0 ? 0 : 1
