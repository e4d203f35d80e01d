// kcat (librdkafka) as reader and writer; used by the client suite.
import { runTool } from '../child-process.ts'
import {
  type ClientReader,
  type ClientRecord,
  type ClientSecurity,
  type ClientWriter,
  inOrder,
} from './client-record.ts'
import { librdkafkaProperties } from './client-security.ts'

interface KcatMessage {
  readonly partition: number
  readonly offset: number
  readonly ts: number
  readonly headers?: readonly string[]
  readonly key: string | null
  readonly payload: string | null
}

/** It asks for metadata for 5 s otherwise. */
const PATIENT = ['-m', '60']

async function kcat(args: readonly string[], input = ''): Promise<string> {
  const { status, stdout, stderr } = await runTool('kcat', [...PATIENT, ...args], { input })
  if (status !== 0) throw new Error(`kcat ${args.join(' ')} ended with ${status}:\n${stderr}`)
  return stdout
}

export const kcatReader: ClientReader = {
  name: 'kcat',
  hidesNullHeaders: true,
  read: async ({ bootstrap, login }, topic, isolation) => {
    const properties = ['-X', `isolation.level=${isolation}`, '-X', 'check.crcs=true', '-X', 'fetch.wait.max.ms=50']
    const sizes = ['-X', 'fetch.message.max.bytes=33554432', '-X', 'receive.message.max.bytes=100000000']
    const printed = await kcat([
      '-b',
      bootstrap,
      '-C',
      '-t',
      topic,
      '-o',
      'beginning',
      '-e',
      '-q',
      '-J',
      ...properties,
      ...sizes,
      ...securedWith(login),
    ])
    const lines = printed.split('\n').filter(line => line !== '')
    return inOrder(lines.map(line => placed(JSON.parse(line))))
  },
}

function placed({ partition, offset, ts: timestamp, headers = [], key, payload: value }: KcatMessage) {
  const pairs = Array.from({ length: headers.length / 2 }, (_, index): [string, string] => [
    headers[2 * index] ?? '',
    headers[2 * index + 1] ?? '',
  ])
  return { partition, offset, timestamp, key, value, headers: pairs }
}

const securedWith = (security: ClientSecurity | undefined): string[] =>
  Object.entries(librdkafkaProperties(security)).flatMap(([name, value]) => ['-X', `${name}=${value}`])

/** It cannot be given timestamps, and headers are the same for every record of a run. */
export const kcatWriter: ClientWriter = {
  name: 'kcat',
  codecs: ['none', 'gzip', 'snappy', 'lz4', 'zstd'],
  idempotent: true,
  write: async ({ bootstrap, topic, codec, acks, idempotent, records, security }) => {
    const headers = (records[0]?.headers ?? []).flatMap(([name, value]) => ['-H', `${name}=${value}`])
    const properties = ['-X', `acks=${acks}`, '-X', `enable.idempotence=${idempotent}`, '-z', codec]
    const secured = securedWith(security)
    const lines = records.map(({ key, value }: ClientRecord) => `${key}\t${value}\n`).join('')
    await kcat(
      ['-b', bootstrap, '-P', '-t', topic, '-p', '0', '-K', '\t', ...headers, ...properties, ...secured],
      lines,
    )
  },
}

/** Reads as a member of a group until it has seen `count` records; librdkafka commits when it leaves. */
export async function readGroupWithKcat(reading: {
  bootstrap: string
  topic: string
  group: string
  count: number
  security?: ClientSecurity
}): Promise<string[]> {
  const settings = ['-X', 'auto.offset.reset=earliest', '-X', 'fetch.wait.max.ms=50']
  const properties = [...settings, ...securedWith(reading.security)]
  const printed = await kcat([
    '-b',
    reading.bootstrap,
    '-G',
    reading.group,
    '-c',
    String(reading.count),
    '-q',
    '-f',
    '%p:%o\\n',
    ...properties,
    reading.topic,
  ])
  return printed.split('\n').filter(line => line !== '')
}
