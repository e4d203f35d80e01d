// librdkafka: confluent-kafka for Python and kcat; run by the conformance suite of other clients.
import { fileURLToPath } from 'node:url'
import { runTool } from '../child-process.ts'
import { python } from '../clients/confluent.ts'
import type { Scenario } from './scenario.ts'
import type { Side } from './side.ts'
import type { Transcript } from './transcript.ts'

const script = fileURLToPath(new URL('confluent_scenarios.py', import.meta.url))

async function inPython(side: Side, what: string, seen: Transcript): Promise<void> {
  const input = JSON.stringify({ what, bootstrap: side.bootstrap })
  const { status, stdout, stderr } = await runTool(await python(), [script], { input, timeoutMs: 240_000 })
  if (status !== 0) throw new Error(`Python ended with ${status}:\n${stderr}`)
  for (const [step, result] of JSON.parse(stdout) as [string, unknown][]) seen.note(step, result)
}

const administration: Scenario = {
  name: 'confluent-kafka administers topics',
  run: (side, seen) => inPython(side, 'administer', seen),
}

const groups: Scenario = {
  name: 'confluent-kafka writes, and reads in groups',
  async run(side, seen) {
    await side.createTopics({ name: 'rd-group', partitions: 2 })
    await inPython(side, 'groups', seen)
  },
}

const protocol: Scenario = {
  name: 'confluent-kafka reads in groups of the consumer protocol',
  async run(side, seen) {
    await side.createTopics({ name: 'rd-protocol', partitions: 2 })
    await inPython(side, 'protocol', seen)
  },
}

const transactions: Scenario = {
  name: 'confluent-kafka writes in transactions, and is fenced',
  async run(side, seen) {
    await side.createTopics({ name: 'rd-transactions' })
    await inPython(side, 'transact', seen)
    await seen.step('read', async () => {
      const read = { topic: 'rd-transactions', isolation: 'read_committed', content: true }
      const { 0: partition } = await side.java<Record<string, { records: unknown[][] }>>('consume', read)
      return partition?.records.map(row => row[7])
    })
    await seen.settles(
      'offsets',
      () => side.groups<object>('offsets', { group: 'rd-transactions' }),
      found => Object.values(found).some(([offset]) => offset === 'committed too'.length),
    )
  },
}

const kcat: Scenario = {
  name: 'kcat writes, reads, asks for offsets and reads in a group',
  async run(side, seen) {
    await side.createTopics({ name: 'kcat', partitions: 2 })
    const run = async (args: readonly string[], input = '') => {
      const quick = ['-X', 'fetch.wait.max.ms=50', '-X', 'session.timeout.ms=10000', '-m', '30']
      const { status, stdout, stderr } = await runTool('kcat', ['-b', side.bootstrap, ...quick, ...args], { input })
      const failure = /Broker: ([^()\n]*)/.exec(stderr)?.[1]?.trim()
      return { status, lines: stdout.split('\n').filter(Boolean).toSorted(), failure }
    }
    await seen.step('write', () => run(['-P', '-t', 'kcat', '-p', '1', '-K', ':', '-z', 'lz4'], 'a:1\nb:2\nc:3\n'))
    await seen.step('read', () => run(['-C', '-t', 'kcat', '-o', 'beginning', '-e', '-q', '-f', '%p %o %k %s\n']))
    await seen.step('offsets', () => run(['-Q', '-t', 'kcat:1:-1', '-t', 'kcat:1:-2']))
    await seen.step('in a group', () =>
      run(['-G', 'kcat-group', '-X', 'auto.offset.reset=earliest', '-c', '3', '-q', '-f', '%p %o %s\n', 'kcat']),
    )
    await seen.step('committed', () => side.groups('offsets', { group: 'kcat-group' }))
    await seen.step('no topic', () => run(['-C', '-t', 'kcat-nobody', '-e', '-q']))
    await seen.step('metadata', async () => {
      const { lines } = await run(['-L', '-J', '-t', 'kcat'])
      const { topics } = JSON.parse(lines.join('')) as { topics: unknown }
      return topics
    })
  },
}

export const librdkafkaScenarios: readonly Scenario[] = [administration, groups, protocol, transactions, kcat]
