/** Kafka's own producer-perf and consumer-perf as processes, and the figures that they print; bench/broker.ts calls them. */
import { join } from 'node:path'
import { runTool, type ToolResult } from '../../test/child-process.ts'
import { kafkaJars } from '../../test/kafka/jars.ts'
import type { Access } from './access.ts'

export const KAFKA_VERSION = '4.3.1'
export const RECORD_BYTES = 1000

/** Settings of the JVM in Kafka's start scripts, for brokers and tools alike; the heap is set beside them. */
export const jvmArguments = [
  '-server',
  '-XX:+UseG1GC',
  '-XX:MaxGCPauseMillis=20',
  '-XX:InitiatingHeapOccupancyPercent=35',
  '-XX:+ExplicitGCInvokesConcurrent',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
]

const HEAP = '-Xmx512M'
const TIMEOUT_MS = 240_000

/** What one run of a tool is about. */
export interface ToolRun {
  readonly access: Access
  readonly topic: string
  readonly records: number
}

/** Megabytes (10^6 bytes) of values per second; `warmup` records at the beginning are not counted. */
export async function producerPerf(run: ToolRun & { readonly warmup: number; readonly acks: string }): Promise<number> {
  const properties = { ...run.access.properties, acks: run.acks }
  const output = await runClass('ProducerPerformance', [
    ...['--bootstrap-server', run.access.bootstrap, '--topic', run.topic],
    ...['--num-records', String(run.records + run.warmup), '--warmup-records', String(run.warmup)],
    ...['--record-size', String(RECORD_BYTES), '--throughput', '-1'],
    ...['--command-property', ...Object.entries(properties).map(([name, value]) => `${name}=${value}`)],
  ])
  const steady = /(\d+) steady state records sent, ([\d.]+) records\/sec/.exec(output)
  const recordsPerSecond = Number(steady?.[2])
  if (Number(steady?.[1]) !== run.records) throw new Error(`producer-perf did not send everything:\n${output}`)
  return (recordsPerSecond * RECORD_BYTES) / 1e6
}

/** Megabytes of values per second of a new group, joining not counted. */
export async function consumerPerf(run: ToolRun): Promise<number> {
  const output = await runClass('ConsumerPerformance', [
    ...['--bootstrap-server', run.access.bootstrap, '--topic', run.topic, '--num-records', String(run.records)],
    ...['--timeout', '30000', '--hide-header'],
    ...Object.entries(run.access.properties).flatMap(([name, value]) => ['--command-property', `${name}=${value}`]),
  ])
  const columns = (output.trim().split('\n').at(-1) ?? '').split(',').map(text => text.trim())
  // start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance.time.ms, fetch.time.ms, ...
  const [consumed, fetchMs] = [Number(columns[4]), Number(columns[7])]
  if (!(consumed >= run.records)) throw new Error(`consumer-perf did not read everything:\n${output}`)
  return (consumed * RECORD_BYTES) / 1000 / fetchMs
}

async function runClass(name: string, args: readonly string[]): Promise<string> {
  const classPath = join(await kafkaJars(KAFKA_VERSION), '*')
  const java = [HEAP, ...jvmArguments, '-cp', classPath, `org.apache.kafka.tools.${name}`]
  const result: ToolResult = await runTool('java', [...java, ...args], { timeoutMs: TIMEOUT_MS })
  if (result.status !== 0) throw new Error(`${name} failed:\n${result.stdout}${result.stderr}`)
  return result.stdout
}
