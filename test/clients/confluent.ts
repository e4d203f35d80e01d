// confluent-kafka for Python (librdkafka) as reader and writer, in a venv of its own; used by the client suite.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { cached } from '../cache.ts'
import { runTool } from '../child-process.ts'
import {
  type ClientReader,
  type ClientSecurity,
  type ClientWriter,
  inOrder,
  type PlacedRecord,
  type TransactionalWriter,
} from './client-record.ts'
import { librdkafkaProperties } from './client-security.ts'
import type { Follower, Following, Seen } from './follower.ts'

const version = '2.16.1'
const script = fileURLToPath(new URL('confluent_client.py', import.meta.url))

/** Path of a Python that has confluent-kafka; makes the venv the first time. */
export async function python(): Promise<string> {
  const build = async (folder: string) => {
    await run('python3', ['-m', 'venv', folder])
    await run(join(folder, 'bin/python'), ['-m', 'pip', 'install', '-q', `confluent-kafka==${version}`])
  }
  return join(await cached(`python/confluent-kafka-${version}`, build, { relocatable: false }), 'bin/python')
}

async function run(command: string, args: readonly string[], input = ''): Promise<string> {
  const { status, stdout, stderr } = await runTool(command, args, { input, timeoutMs: 120_000 })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`)
  return stdout
}

export const confluentReader: ClientReader = {
  name: 'confluent-kafka',
  read: async ({ bootstrap, login }, topic, isolation) => {
    const request = { bootstrap, topic, isolation, config: librdkafkaProperties(login) }
    const printed = await run(await python(), [script, 'read'], JSON.stringify(request))
    return inOrder(JSON.parse(printed) as PlacedRecord[])
  },
}

export const confluentWriter: ClientWriter = {
  name: 'confluent-kafka',
  codecs: ['none', 'gzip', 'snappy', 'lz4', 'zstd'],
  idempotent: true,
  write: async request => {
    const { patienceMs = 60_000 } = request
    const config = { ...librdkafkaProperties(request.security), 'message.timeout.ms': patienceMs }
    await run(await python(), [script, 'write'], JSON.stringify({ ...request, config }))
  },
}

export const confluentTransactions: TransactionalWriter = {
  name: 'confluent-kafka',
  write: async request => {
    await run(await python(), [script, 'transactions'], JSON.stringify(request))
  },
}

/** Reads as a member of a group until it has seen `count` records, commits and leaves. */
export async function readGroupInPython(reading: {
  bootstrap: string
  topic: string
  group: string
  count: number
  commitEvery?: number
  security?: ClientSecurity
}): Promise<string[]> {
  const request = { ...reading, config: librdkafkaProperties(reading.security) }
  return JSON.parse(await run(await python(), [script, 'group'], JSON.stringify(request))) as string[]
}

/** Reads on until it is closed. */
export async function followInPython(of: Following, seen: Seen): Promise<Follower> {
  const child = spawn(await python(), [script, 'follow'], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.on('error', () => {})
  child.stdin.write(`${JSON.stringify(of)}\n`)
  createInterface({ input: child.stdout }).on('line', line => {
    const [topic, partition, offset, value] = JSON.parse(line) as [string, number, number, string]
    seen.add(`${topic}-${partition}`, offset, value)
  })
  const ended = once(child, 'close')
  ended.catch(() => {})
  const close = async () => {
    // It leaves its group and ends.
    child.stdin.end()
    await ended
  }
  return { ended, close }
}
