/** The command line tried end to end against a REST server with a fake engine: outputs, prompts and exit codes. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { OperationalError } from '../core/errors.ts'
import { ZERO_UUID } from '../core/uuid.ts'
import { FakeEngine, fakeLink, fakeMirror } from '../rest/fakes/fake-engine.ts'
import { lockstep, lockstepAt } from './fakes/run-command.ts'

const refusal = (message: string, hint?: string) =>
  new OperationalError(
    'X',
    { status: 400, restCode: 40002, kafka: 'INVALID_REQUEST', retriable: false, message: () => '' },
    { message, hint },
  )

test('link create sends its flags and prints the configs without secrets', async () => {
  const engine = new FakeEngine()
  const args = ['link', 'create', 'west', '--source-bootstrap-server', 'a:1,b:2', '--source-cluster', 'src']
  const result = await lockstep(engine, [...args, '--config', 'sasl.jaas.config=secret,acl.sync.ms=5100'])
  strictEqual(result.code, 0, result.err)
  strictEqual(
    result.out,
    'Created cluster link "west" with configs:\n"acl.sync.ms"="5100"\n"bootstrap.servers"="a:1,b:2"\n"link.mode"="DESTINATION"\n',
  )
  const [request] = (engine.calls[0]?.arguments ?? []) as [{ sourceClusterId: string; configs: Map<string, string> }]
  strictEqual(request.sourceClusterId, 'src')
  strictEqual(request.configs.get('sasl.jaas.config'), 'secret')
})

test('link configuration update sends properties and resets, and says what was cleared', async () => {
  const engine = new FakeEngine()
  const args = ['--config', 'acl.sync.enable=false,acl.sync.ms=7000', '--reset', 'acl.filters']
  const result = await lockstep(engine, ['link', 'configuration', 'update', 'west', ...args])
  deepStrictEqual([result.code, result.err], [0, ''])
  match(result.out, /Updated cluster link "west"\.\nCleared "acl\.filters"/)
  deepStrictEqual(engine.calls[0]?.arguments[1], [
    { name: 'acl.sync.enable', operation: 'SET', value: 'false' },
    { name: 'acl.sync.ms', operation: 'SET', value: '7000' },
    { name: 'acl.filters', operation: 'DELETE', value: null },
  ])
  const dry = await lockstep(engine, ['link', 'update', 'west', '--config', 'link.prefix=p.', '--dry-run'])
  match(dry.out, /^\[DRY RUN\] Updated/)
  deepStrictEqual(engine.calls[1]?.arguments[2], { validateOnly: true })
  strictEqual((await lockstep(engine, ['link', 'configuration', 'update', 'west'])).code, 2)
})

test('link configuration list shows every property and the own cluster', async () => {
  const engine = new FakeEngine()
  engine.links = [fakeLink('west', ZERO_UUID)]
  const result = await lockstep(engine, ['link', 'configuration', 'list', 'west', '-o', 'json'])
  const rows: { config_name: string; config_value: string | null; synonyms: string[] }[] = JSON.parse(result.out)
  deepStrictEqual(
    rows.map(row => row.config_name),
    ['bootstrap.servers', 'dest.cluster.id', 'sasl.jaas.config'],
  )
  strictEqual(rows[2]?.config_value, null)
  deepStrictEqual(rows[0]?.synonyms, [])
  match((await lockstep(engine, ['link', 'configuration', 'list', 'west'])).out, /Config Name +Config Value +Read-Only/)
})

test('a dry run says so and validates only', async () => {
  const engine = new FakeEngine()
  const result = await lockstep(engine, ['link', 'create', 'w', '--dry-run', '--no-validate'])
  match(result.out, /^\[DRY RUN\] Created/)
  deepStrictEqual(engine.calls[0]?.arguments[1], { validateOnly: true, validateLink: false })
})

test('link list prints a table for people, and the same facts as JSON and YAML', async () => {
  const engine = new FakeEngine()
  engine.links = [fakeLink('west', ZERO_UUID)]
  const human = await lockstep(engine, ['link', 'list'])
  const [head, row] = human.out.split('\n')
  match(head ?? '', /^Name +ID +Source Cluster +Destination Cluster +Remote Cluster +State +Error +Error Message$/)
  match(row ?? '', /^west +AAAAAAAAAAAAAAAAAAAAAA +source-cluster +ACTIVE +NO_ERROR$/)
  const expected = {
    link_name: 'west',
    link_id: ZERO_UUID,
    source_cluster: 'source-cluster',
    state: 'ACTIVE',
    error: 'NO_ERROR',
  }
  deepStrictEqual(JSON.parse((await lockstep(engine, ['link', 'list', '-o', 'json'])).out), [expected])
  match((await lockstep(engine, ['-o', 'yaml', 'link', 'list'])).out, /^- link_name: west\n {2}link_id: AAAA/)
  const topics = JSON.parse((await lockstep(engine, ['link', 'list', '--include-topics', '-o', 'json'])).out)
  strictEqual(topics[0].topic_name, 'orders')
})

test('empty lists are a sentence for people and [] for machines', async () => {
  strictEqual((await lockstep(new FakeEngine(), ['mirror', 'list'])).out, 'No mirror topics.\n')
  strictEqual((await lockstep(new FakeEngine(), ['mirror', 'list', '-o', 'json'])).out, '[]\n')
})

test('link describe shows the counts of partition states', async () => {
  const engine = new FakeEngine()
  engine.links = [fakeLink('west', ZERO_UUID)]
  const result = await lockstep(engine, ['link', 'describe', 'west'])
  match(result.out, /Mirror Partition States Count +ACTIVE: 2\n/)
})

test('mirror list and describe show lags per topic and per partition', async () => {
  const engine = new FakeEngine()
  engine.mirrors = [fakeMirror('orders', { reason: 'because' })]
  const list = JSON.parse((await lockstep(engine, ['mirror', 'list', '-o', 'json'])).out)
  strictEqual(list[0].max_per_partition_mirror_lag, 5)
  const human = await lockstep(engine, ['mirror', 'describe', 'orders', '--link', 'west'])
  match(human.out, /west +orders +orders +ACTIVE +NO_ERROR +1700000000000 +0 +5 +100\n/)
  match(human.out, /Reason: because\n\nAllowed now: pause, promote, failover, delete\n/)
})

test('mirror create names the topic and passes overrides', async () => {
  const engine = new FakeEngine()
  const args = [
    'mirror',
    'create',
    'orders',
    '--link',
    'west',
    '--replication-factor',
    '1',
    '--config',
    'min.insync.replicas=1',
  ]
  const result = await lockstep(engine, args)
  deepStrictEqual([result.code, result.out], [0, 'Created mirror topic "orders".\n'])
  const [link, request] = (engine.calls[0]?.arguments ?? []) as [string, { replicationFactor: number }]
  deepStrictEqual([link, request.replicationFactor], ['west', 1])
})

test('topic create passes partitions and configs', async () => {
  const engine = new FakeEngine()
  const args = ['topic', 'create', 'numbers', '--partitions', '2', '--config', 'cleanup.policy=compact']
  const result = await lockstep(engine, args)
  deepStrictEqual([result.code, result.out], [0, 'Created topic "numbers".\n'], result.err)
  strictEqual((await lockstep(engine, ['topic', 'create', 'numbers', '--partitions', 'two'])).code, 2)
})

test('failover asks on a terminal, naming what will be missing, and does nothing after "n"', async () => {
  const engine = new FakeEngine()
  const { lags } = fakeMirror('orders')
  const partitions = [{ partition: 0, endOffset: 100, stopOffset: 100, lastKnownLag: 5, waitingFor: null }]
  const row = { mirrorTopicName: 'orders', errorCode: null, errorMessage: null, lags, partitions }
  engine.rows = [{ ...row, openTransactions: 2 }]
  const result = await lockstep(engine, ['mirror', 'failover', 'orders', '--link', 'west'], 'n')
  match(result.asked[0] ?? '', /5 records of the source will be missing here\. 2 open transactions will be aborted/)
  strictEqual(result.code, 1)
  match(result.err, /nothing was changed/)
  deepStrictEqual(
    engine.calls.map(call => (call.arguments[2] as { validateOnly: boolean }).validateOnly),
    [true],
  )
})

test('failover with --force does not ask; refused topics give -1 rows and exit code 3', async () => {
  const engine = new FakeEngine()
  const done = fakeMirror('orders')
  engine.rows = [
    {
      mirrorTopicName: 'orders',
      errorCode: null,
      errorMessage: null,
      lags: done.lags,
      partitions: [{ partition: 0, endOffset: 100, stopOffset: 100, lastKnownLag: 5, waitingFor: null }],
      openTransactions: 2,
    },
    {
      mirrorTopicName: 'gone',
      errorCode: 404,
      errorMessage: 'no such mirror',
      lags: [],
      partitions: [],
      openTransactions: 0,
    },
  ]
  const result = await lockstep(engine, ['mirror', 'failover', 'orders', 'gone', '--link', 'west', '--force'], 'n')
  strictEqual(result.code, 3)
  deepStrictEqual(result.asked, [])
  match(result.out, /orders +0 +5 +100 +100\n/)
  match(result.out, /gone +-1 +-1 +-1 +no such mirror +404 +-1\n/)
  match(result.out, /Open transactions aborted: 2\n/)
})

test('failover --wait follows the topics until they are STOPPED', async () => {
  const engine = new FakeEngine()
  engine.mirrors = [fakeMirror('orders', { status: 'STOPPED' })]
  engine.rows = [
    { mirrorTopicName: 'orders', errorCode: null, errorMessage: null, lags: [], partitions: [], openTransactions: 0 },
  ]
  const result = await lockstep(engine, ['mirror', 'failover', 'orders', '--link', 'west', '--wait=5'])
  deepStrictEqual([result.code, result.err], [0, 'orders: STOPPED\n'])
})

test('an error of the node goes to stderr with its hint and exit code 1', async () => {
  const engine = new FakeEngine()
  engine.failure = refusal('link "west" already exists', 'choose another name')
  const result = await lockstep(engine, ['link', 'create', 'west'])
  deepStrictEqual(
    [result.code, result.out, result.err],
    [1, '', 'Error: link "west" already exists\nHint: choose another name\n'],
  )
})

test('wrong usage exits with 2 and says how to get help', async () => {
  const unknown = await lockstep(new FakeEngine(), ['link', 'creat'])
  strictEqual(unknown.code, 2)
  ok(unknown.err.includes('create'), unknown.err)
  strictEqual((await lockstep(new FakeEngine(), ['mirror', 'describe', 'x'])).code, 2)
  strictEqual((await lockstep(new FakeEngine(), ['link', 'list', '-o', 'xml'])).code, 2)
  strictEqual((await lockstep(new FakeEngine(), ['link', 'create', 'w', '--config', 'nofile'])).code, 2)
})

test('a node that does not answer exits with 4 and names the URL', async () => {
  const result = await lockstepAt('http://127.0.0.1:1', ['link', 'list'])
  strictEqual(result.code, 4)
  match(result.err, /cannot reach a Lockstep node at http:\/\/127\.0\.0\.1:1: /)
})

test('deleting several links reports each and exits with 3 when one fails', async () => {
  const engine = new FakeEngine()
  engine.failure = refusal('link "a" has mirrors')
  const result = await lockstep(engine, ['link', 'delete', 'a', 'b'])
  strictEqual(result.code, 3)
  match(result.err, /link "a" has mirrors/)
  match(result.out, /Deleted cluster link "b"\./)
})

test('--version and --help exit with 0', async () => {
  deepStrictEqual((await lockstep(new FakeEngine(), ['--version'])).out, '1.2.3\n')
  strictEqual((await lockstep(new FakeEngine(), ['mirror', '--help'])).code, 0)
})
