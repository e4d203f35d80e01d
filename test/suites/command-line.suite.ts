/** The command line against a node that mirrors a real Kafka: every command once, completion in a real bash, prompts on a real terminal, closed pipes. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Partitioners } from 'kafkajs'
import { COMMANDS } from '../../src/cli/command-table.ts'
import { repositoryRoot } from '../cache.ts'
import { runTool } from '../child-process.ts'
import { patientKafkaJs } from '../clients/kafkajs.ts'
import { eventually } from '../eventually.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { linkVerbs, mirrorVerbs, otherVerbs, type Verb } from '../scenarios/command-line-verbs.ts'

const skip = skipWithout('java')
const opened = new Opened()
const said = new Set<string>()
let cluster: KafkaCluster
let node: LockstepNode
/** A folder on the PATH with `lockstep` in it. */
let bin: string

before(async () => {
  if (skip !== false) return
  bin = await mkdtemp(join(tmpdir(), 'lockstep-bin-'))
  const script = join(bin, 'lockstep')
  await writeFile(
    script,
    `#!/bin/sh\nexec '${process.execPath}' '${join(repositoryRoot, 'src/bin/lockstep.ts')}' "$@"\n`,
  )
  await chmod(script, 0o755)
  const [kafka, started] = await opened.all<[KafkaCluster, LockstepNode]>([
    KafkaCluster.start({ version: '4.3.1' }),
    LockstepNode.start(),
  ])
  cluster = kafka
  node = started
  await fillSource()
})
after(async () => {
  await opened.close()
  if (bin) await rm(bin, { recursive: true, force: true })
})

/** A hundred records in each topic. */
async function fillSource(): Promise<void> {
  const kafka = patientKafkaJs(cluster.bootstrap)
  const admin = kafka.admin()
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await admin.connect()
  await producer.connect()
  try {
    const names = ['orders', 'payments', 'returns']
    await admin.createTopics({ topics: names.map(topic => ({ topic, numPartitions: 2 })), waitForLeaders: true })
    const messages = Array.from({ length: 100 }, (_, at) => ({ partition: at % 2, value: `value ${at}` }))
    for (const topic of names) await producer.send({ topic, messages })
  } finally {
    await producer.disconnect()
    await admin.disconnect()
  }
}

/** A group without members that has offsets of `orders` at the node. */
async function commitOffset(groupId: string): Promise<void> {
  const admin = patientKafkaJs(node.bootstrap).admin()
  await admin.connect()
  try {
    await admin.setOffsets({ groupId, topic: 'orders', partitions: [{ partition: 0, offset: '3' }] })
  } finally {
    await admin.disconnect()
  }
}

const environment = () => ({
  ...process.env,
  PATH: `${bin}:${process.env['PATH']}`,
  LOCKSTEP_URL: node.rest.origin,
  HOME: bin,
})

const bash = (script: string, input = '') => runTool('bash', ['--norc', '-c', script], { env: environment(), input })

async function say({ args, status = 0, says, input = '', later = false }: Verb): Promise<void> {
  const once = async () => {
    const result = await runTool(join(bin, 'lockstep'), args.split(' '), { env: environment(), input })
    const all = `lockstep ${args}\n${result.stdout}${result.stderr}`
    strictEqual(result.status, status, all)
    match(status === 0 ? result.stdout : result.stderr, says, all)
  }
  await (later ? eventually(once, { intervalMs: 500 }) : once())
  const name = COMMANDS.map(({ path }) => path).find(path => args === path || args.startsWith(`${path} `))
  if (name !== undefined) said.add(name)
}

test('a link is checked, created, listed, described and changed', { skip }, async () => {
  for (const each of linkVerbs(cluster.bootstrap, cluster.clusterId)) await say(each)
})

test('mirrors are created, watched, compared, promoted and failed over', { skip }, async () => {
  for (const each of mirrorVerbs) await say(each)
})

test('bash completes commands, options and names that the node knows', { skip }, async () => {
  const lines = [
    'lockstep mirror pro',
    'lockstep link describe w',
    'lockstep mirror describe --link=we',
    'lockstep mirror describe --link west pay',
    'lockstep link configuration u',
    'lockstep mirror promote --tog',
    'lockstep link list -o y',
  ]
  const complete = lines.map(
    line => `COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; _lockstep; echo "\${COMPREPLY[*]}"`,
  )
  const { stdout, stderr } = await bash(`source <(lockstep completion bash)\n${complete.join('\n')}`)
  const expected = ['promote', 'west', 'west', 'payments', 'update', '--together', 'yaml']
  deepStrictEqual([stdout.trimEnd().split('\n'), stderr], [expected, ''])
})

test('a destructive verb asks on a terminal with what is lost in numbers, and does nothing after "n"', {
  skip,
}, async () => {
  // script gives it a terminal.
  const command = 'lockstep mirror failover copy.returns --link copies; echo "code $?"'
  const { stdout } = await runTool('script', ['-qec', `bash --norc -c '${command}'`, '/dev/null'], {
    env: environment(),
    input: 'n\n',
  })
  const text = stdout.replace(/\s+/g, ' ')
  match(text, /Failing over 1 mirror topic of link "copies".*\d+ records?.* of the source will be missing/)
  match(text, /nothing was changed.*code 1/)
})

test('a reader that has enough ends the output silently', { skip }, async () => {
  const { stdout, stderr } = await bash(
    [
      'lockstep link configuration list west -o json | head -n 1',
      'lockstep top --interval 100ms | head -n 2 > /dev/null',
      'echo $PIPESTATUS',
    ].join('\n'),
  )
  deepStrictEqual([stdout, stderr], ['[\n0\n', ''])
})

test('groups, topics and nodes are listed and changed, and links deleted', { skip }, async () => {
  await commitOffset('readers')
  for (const each of otherVerbs) await say(each)
})

test('no command was left out', { skip }, () => {
  deepStrictEqual(
    COMMANDS.map(({ path }) => path).filter(path => !said.has(path)),
    [],
  )
})
