/** `npm start -- --join`: the demo with a complete Apache Kafka cluster that a Lockstep node joins; needs Java 17 and Maven. */
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { perform } from '../src/node/demo/perform-scene.ts'
import { hasJava } from '../test/requirements.ts'
import { playJoinedLive } from './joined-demo/live-scene.ts'
import { playJoinedOnce } from './joined-demo/once-scene.ts'

const usage = `usage: npm start -- --join [--once]
  --join  starts an Apache Kafka to mirror from, and an Apache Kafka cluster that a Lockstep node joins, live until Ctrl-C
  --once  mirrors 200 000 records, kills the source, fails over, compares every replica, and ends
  --records <count>  other than 200 000`
const WITHOUT_JAVA = `The demo with Apache Kafka needs Java 17 or newer (java and javac) and Maven (mvn) on the PATH, which fetches Apache Kafka 4.3.1.
Without --join the demo needs neither.`
const RECORDS_DEFAULT = '200000'
const RECORDS_MAX = 10_000_000

process.exitCode = await run()
process.exit()

async function run(): Promise<number> {
  const io = {
    out: (text: string) => process.stdout.write(text),
    err: (text: string) => process.stderr.write(text),
    interactive: process.stdout.isTTY === true,
    columns: () => process.stdout.columns ?? 80,
    rows: () => process.stdout.rows ?? 24,
  }
  const options = readOptions()
  if (options === undefined) {
    io.err(`${usage}\n`)
    return 2
  }
  if (!hasJava()) {
    io.err(`Error: ${WITHOUT_JAVA}\n`)
    return 1
  }
  const { once, records } = options
  return await perform(io, {
    entry: fileURLToPath(new URL('../src/bin/lockstep.ts', import.meta.url)),
    endless: !once,
    explainsItself: () => false,
    play: stage => (once ? playJoinedOnce(stage, records) : playJoinedLive(stage)),
  })
}

/** undefined if they cannot be understood. */
function readOptions(): { once: boolean; records: number } | undefined {
  try {
    const { values } = parseArgs({
      options: {
        join: { type: 'boolean', default: true },
        once: { type: 'boolean', default: false },
        records: { type: 'string', default: RECORDS_DEFAULT },
      },
    })
    const records = Number(values.records)
    const valid = Number.isSafeInteger(records) && records >= 1 && records <= RECORDS_MAX
    return valid ? { once: values.once, records } : undefined
  } catch {
    return undefined
  }
}
