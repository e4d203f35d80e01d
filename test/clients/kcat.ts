// kcat (librdkafka) as reader and writer; used by the client suite.
import { runTool } from '../child-process.ts'
import { type ClientReader, type ClientRecord, type ClientWriter, inOrder } from './client-record.ts'

interface KcatMessage {
  readonly partition: number
  readonly offset: number
  readonly ts: number
  readonly headers?: readonly string[]
  readonly key: string | null
  readonly payload: string | null
}

async function kcat(args: readonly string[], input = ''): Promise<string> {
  const { status, stdout, stderr } = await runTool('kcat', args, { input })
  if (status !== 0) throw new Error(`kcat ${args.join(' ')} ended with ${status}:\n${stderr}`)
  return stdout
}

export const kcatReader: ClientReader = {
  name: 'kcat',
  hidesNullHeaders: true,
  read: async (bootstrap, topic, isolation) => {
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

/** It cannot be given timestamps, and headers are the same for every record of a run. */
export const kcatWriter: ClientWriter = {
  name: 'kcat',
  codecs: ['none', 'gzip', 'snappy', 'lz4', 'zstd'],
  idempotent: true,
  write: async ({ bootstrap, topic, codec, acks, idempotent, records }) => {
    const headers = (records[0]?.headers ?? []).flatMap(([name, value]) => ['-H', `${name}=${value}`])
    const properties = ['-X', `acks=${acks}`, '-X', `enable.idempotence=${idempotent}`, '-z', codec]
    const lines = records.map(({ key, value }: ClientRecord) => `${key}\t${value}\n`).join('')
    await kcat(['-b', bootstrap, '-P', '-t', topic, '-p', '0', '-K', '\t', ...headers, ...properties], lines)
  },
}
