/** `npm start -- --join`: the demo with a complete Apache Kafka cluster that a node joins, as somebody who tries Lockstep runs it. */
import { match, strictEqual } from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { repositoryRoot } from '../cache.ts'
import { runTool } from '../child-process.ts'
import { skipWithout } from '../requirements.ts'

const skip = skipWithout('java')
const script = join(repositoryRoot, 'scripts/joined-demo.ts')

const play = (options: readonly string[], env: NodeJS.ProcessEnv = process.env) =>
  runTool(process.execPath, [script, '--join', ...options], { env, timeoutMs: 240_000 })

test('with --once every record is on both Kafka brokers as it was on the source, and they take the next one', {
  skip,
}, async () => {
  const { status, stdout, stderr } = await play(['--once', '--records', '20000'])
  strictEqual(status, 0, `${stdout}\n${stderr}`)
  match(stdout, /^20,000 records, .* mirrored at .*: source and both Kafka brokers are equal\n$/)
})

test('without Java it says what is missing and how to go on', async () => {
  const { status, stderr } = await play(['--once'], { PATH: '' })
  strictEqual(status, 1)
  match(stderr, /needs Java 17 or newer .* and Maven/)
  match(stderr, /Without --join the demo needs neither/)
})

test('options that it does not have are refused with those that it has', async () => {
  for (const options of [['--twice'], ['--once', '--records', 'many']]) {
    const { status, stderr } = await play(options)
    strictEqual(status, 2)
    match(stderr, /usage: npm start -- --join/)
  }
})
