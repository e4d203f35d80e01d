// Kafka's tools that write and read, and its dump of the logs that this leaves on disk; run by the suite of the clients' tools.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { runTool } from '../child-process.ts'
import { eventually } from '../eventually.ts'
import { kafkaJars } from '../kafka/jars.ts'
import type { Scenario } from './scenario.ts'
import type { Side } from './side.ts'
import { printedBy } from './tool-output.ts'

const TOOLS = 'org.apache.kafka.tools'
const BOOTSTRAP = ['--bootstrap-server', '{bootstrap}']

const performance: Scenario = {
  name: 'kafka-producer-perf-test and kafka-consumer-perf-test',
  async run(side, seen) {
    await side.createTopics({ name: 'performed', partitions: 3 })
    const produce = (...properties: string[]) =>
      printedBy(side, `${TOOLS}.ProducerPerformance`, [
        ...['--topic', 'performed', '--num-records', '2000', '--record-size', '200', '--throughput', '-1'],
        ...[...BOOTSTRAP, '--command-property', ...properties],
      ])
    // What it measures is not compared; that all of it was sent is.
    const sent = (text: string) => text.replaceAll(/ sent,.*/g, ' sent')
    await seen.step('acks=1', async () => sent(await produce('acks=1', 'enable.idempotence=false')))
    await seen.step('acks=all', async () => sent(await produce('acks=all', 'compression.type=lz4')))
    await seen.step('in transactions', async () => {
      const text = await printedBy(side, `${TOOLS}.ProducerPerformance`, [
        ...['--topic', 'performed', '--num-records', '500', '--record-size', '100', '--throughput', '-1'],
        ...[...BOOTSTRAP, '--transactional-id', 'performed', '--transaction-duration-ms', '50'],
      ])
      return sent(text)
    })
    await seen.step('consumer', async () => {
      const text = await printedBy(side, `${TOOLS}.ConsumerPerformance`, [
        ...[...BOOTSTRAP, '--topic', 'performed', '--group', 'performed', '--num-records', '4500'],
        ...['--timeout', '60000', '--hide-header'],
      ])
      return text.split(', ').filter((_, column) => column === 4)
    })
  },
}

/** Counts of the JSON lines that a verifiable tool prints, by their names. */
function eventsOf(text: string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const [, name = ''] of text.matchAll(/"name":"(\w+)"/g)) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

/** For a tool that ends what it does in a shutdown hook of the process. */
async function inItsOwnProcess(tool: string, args: readonly string[]): Promise<string> {
  const quick = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error']
  const classPath = ['-cp', join(await kafkaJars('4.3.1'), '*')]
  const { status, stdout, stderr } = await runTool('java', [...quick, ...classPath, tool, ...args], {
    timeoutMs: 120_000,
  })
  if (status !== 0) throw new Error(`${tool} ended with ${status}:\n${stderr}`)
  return stdout
}

const verifiable: Scenario = {
  name: 'kafka-verifiable-producer and kafka-verifiable-consumer',
  async run(side, seen) {
    await side.createTopics({ name: 'verified', partitions: 2 })
    const producer = ['--topic', 'verified', '--max-messages', '300', '--acks', '-1', '--value-prefix', '7']
    await seen.step('produced', async () => {
      const text = await inItsOwnProcess(`${TOOLS}.VerifiableProducer`, [
        '--bootstrap-server',
        side.bootstrap,
        ...producer,
      ])
      return {
        ...eventsOf(text),
        values: new Set([...text.matchAll(/"value":"(7\.\d+)"/g)].map(match => match[1])).size,
      }
    })
    const consumer = ['--topic', 'verified', '--group-id', 'verified', '--max-messages', '300']
    await seen.step('consumed', async () => {
      const text = await printedBy(side, `${TOOLS}.VerifiableConsumer`, [...BOOTSTRAP, ...consumer, '--verbose'])
      const { record_data: records, shutdown_complete: ended } = eventsOf(text)
      return { records, ended }
    })
    await seen.step('committed', () => side.groups('offsets', { group: 'verified' }).then(total))
  },
}

/** Records fall into partitions by chance: only their number is told. */
const total = (offsets: unknown): number =>
  Object.values(offsets as Record<string, [number]>).reduce((sum, [offset]) => sum + offset, 0)

const consoles: Scenario = {
  name: 'kafka-console-consumer',
  async run(side, seen) {
    await side.createTopics({ name: 'console' })
    await side.write('console', 5)
    await side.java('produce', { topic: 'console', records: [{ value: 'no' }], transaction: { id: 'c', end: 'abort' } })
    const read = (...args: string[]) =>
      printedBy(side, `${TOOLS}.consumer.ConsoleConsumer`, [...BOOTSTRAP, '--topic', 'console', ...args])
    await seen.step('from the beginning', () => read('--from-beginning', '--max-messages', '5'))
    const properties = ['print.key=true', 'print.offset=true', 'print.partition=true', 'print.headers=true']
    const shown = properties.flatMap(property => ['--formatter-property', property])
    await seen.step('from an offset', () => read('--partition', '0', '--offset', '3', '--max-messages', '2', ...shown))
    const group = ['--group', 'console', '--consumer-property', 'auto.offset.reset=earliest']
    await seen.step('in a group', () => read(...group, '--max-messages', '6'))
    const offsets = 'org.apache.kafka.tools.consumer.OffsetsMessageFormatter'
    await seen.step('the offsets topic', () =>
      eventually(async () => {
        const text = await printedBy(side, `${TOOLS}.consumer.ConsoleConsumer`, [
          ...[...BOOTSTRAP, '--topic', '__consumer_offsets', '--from-beginning', '--timeout-ms', '3000'],
          ...['--formatter', offsets],
        ])
        const rows = text.match(/\{"key":\{"type":1,"data":\{"group":"console".*?\}\}\}/g) ?? []
        // A slow consumer commits more than once.
        const last = rows.at(-1)
        if (last === undefined) throw new Error(text)
        return last.replaceAll(/"commitTimestamp":\d+/g, '"commitTimestamp":0')
      }),
    )
    await side.write('console', 1)
    await seen.step('committed only', () =>
      read('--from-beginning', '--isolation-level', 'read_committed', '--max-messages', '6', ...shown),
    )
  },
}

/** Segment files of the partitions of a topic. */
async function segments(side: Side, topic: string): Promise<string[]> {
  const folders = (await readdir(side.dataDirectory)).filter(name => name.replace(/-\d+$/, '') === topic)
  const files = await Promise.all(
    folders.map(async folder => {
      const names = await readdir(join(side.dataDirectory, folder))
      return names.filter(name => name.endsWith('.log')).map(name => join(side.dataDirectory, folder, name))
    }),
  )
  return files.flat()
}

/** What the dump shows of records: payloads, and every kind of them that a decoder knows. */
async function dumped(side: Side, topic: string, decoder: readonly string[]): Promise<string[]> {
  const files = await segments(side, topic)
  const { output } = await side.java<{ output: string[] }>('dump-log', {
    files,
    args: [...decoder, '--print-data-log'],
  })
  return output
}

/** The kinds of a decoder's JSON payloads. */
const kinds = (lines: readonly string[], pattern: RegExp): string[] =>
  [...new Set(lines.flatMap(line => [...line.matchAll(pattern)].map(([, kind = '']) => kind)))].toSorted()

const dumps: Scenario = {
  name: 'kafka-dump-log, with every decoder',
  async run(side, seen) {
    await side.createTopics({ name: 'dumped' })
    await side.write('dumped', 3)
    await side.java('produce', { topic: 'dumped', records: [{ value: 'x' }], transaction: { id: 'd', end: 'abort' } })
    const member = await side.consumer('dumped', { 'group.id': 'dumped' })
    await member.subscribe('dumped')
    await member.takeUntil(4)
    await member.run('commit')
    await member.close()
    // Nothing of this is flushed by Kafka, but it is written.
    await seen.step('records', async () =>
      (await dumped(side, 'dumped', []))
        .filter(line => line.includes('payload:') || line.includes('endTxnMarker'))
        .map(line => line.replaceAll(/(CreateTime: |sequence: |producerId: )-?\d+/g, '$1N').replace(/^\|\s*/, '')),
    )
    await seen.step('offsets', async () =>
      kinds(await dumped(side, '__consumer_offsets', ['--offsets-decoder']), /"type":"(\d+)"/g),
    )
    await seen.step('records of the group', async () =>
      (await dumped(side, '__consumer_offsets', ['--offsets-decoder']))
        .filter(line => line.includes('"group":"dumped"'))
        .map(line => line.replace(/^.*?(key: )/, '$1'))
        .map(line => line.replaceAll(/("\w+Timestamp"|"topicId"):("[^"]*"|\d+)/g, '$1:0'))
        // The number of the client and its member id.
        .map(line => line.replaceAll(/consumer-dumped-\d+(-[0-9a-f-]{36})?/g, 'consumer')),
    )
    await seen.step('transactions', async () =>
      (await dumped(side, '__transaction_state', ['--transaction-log-decoder']))
        .filter(line => line.includes('"transactionalId":"d"'))
        .map(line =>
          line
            .replace(/^.*?(key: )/, '$1')
            .replaceAll(/"(producerId|\w+TimestampMs|prevProducerId|nextProducerId)":-?\d+/g, '"$1":0'),
        ),
    )
    await seen.step('metadata', async () => {
      const lines = await dumped(side, '__cluster_metadata', ['--cluster-metadata-decoder'])
      return lines
        .filter(line => line.includes('"name":"dumped"'))
        .map(line => line.replace(/^.*?(payload: )/, '$1').replaceAll(/"topicId":"[^"]*"/g, '"topicId":""'))
    })
  },
}

export const clientToolScenarios: readonly Scenario[] = [performance, verifiable, consoles, dumps]
