/** What the golden files show: invocations of every command against the fixed node, in all formats. Used by the golden test and by scripts/golden.ts. */
import { COMMANDS, GROUPS } from '../command-table.ts'
import { type FixedNode, startFixedNode } from './fixed-node.ts'
import { lockstepAt } from './run-command.ts'

interface Case {
  readonly args: string
  /** Typed at the prompt; human output only. */
  readonly answer?: string
  /** Only for people: nothing else in other formats. */
  readonly humanOnly?: boolean
}

const WIDTHS = [80, 200]

const read = (...args: string[]): Case[] => args.map(each => ({ args: each }))
/** Once with a "no" at the prompt, once without a prompt. */
const asking = (args: string): Case[] => [{ args, answer: 'n' }, { args: `${args} --force` }]

/** Invocations by the name of the command. */
export const CASES: Readonly<Record<string, readonly Case[]>> = {
  'link create': read(
    'link create west --source-bootstrap-server a:1 --source-api-key k --source-api-secret s --config acl.sync.ms=5100',
    'link create west --source-bootstrap-server a:1 --dry-run',
    'link create west --source-api-key k',
  ),
  'link list': read('link list', 'link list --include-topics'),
  'link describe': read('link describe west', 'link describe link-dne'),
  'link update': read('link update west --config acl.sync.enable=false --reset acl.sync.ms', 'link update west'),
  'link delete': [
    ...asking('link delete west'),
    ...asking('link delete west --fail-over-mirrors'),
    { args: 'link delete west link-dne --dry-run' },
  ],
  'link preflight': read(
    'link preflight --source-bootstrap-server a:1',
    'link preflight broken --source-bootstrap-server a:1',
  ),
  'link source-topics': read('link source-topics west', 'link source-topics west --not-mirrored'),
  'link configuration list': read('link configuration list west'),
  'link configuration update': read('link configuration update west --config acl.sync.enable=false --dry-run'),
  'link task list': read('link task list west'),
  'link task run': read('link task run west AclSync'),
  'mirror create': read('mirror create orders --link west'),
  'mirror list': read('mirror list', 'mirror list --link west --mirror-status failed'),
  'mirror describe': read('mirror describe orders --link west', 'mirror describe payments --link west'),
  'mirror update': read('mirror update orders --link west --config retention.ms=1'),
  'mirror move': read('mirror move orders --link west --to 1002', 'mirror move orders --link west --to 1002 --dry-run'),
  'mirror promote': asking('mirror promote orders gone --link west'),
  'mirror failover': [...asking('mirror failover orders gone --link west'), { args: 'mirror failover --link west' }],
  'mirror pause': read('mirror pause orders gone --link west --dry-run'),
  'mirror resume': read('mirror resume --pattern ord.* --link west'),
  'mirror reverse-and-start': asking('mirror reverse-and-start orders gone --link west'),
  'mirror reverse-and-pause': asking('mirror reverse-and-pause orders gone --link west'),
  'mirror truncate-and-restore': [
    ...asking('mirror truncate-and-restore orders gone --link west'),
    { args: 'mirror truncate-and-restore orders gone --link west --include-partitions --force' },
  ],
  'mirror history': read('mirror history orders --link west'),
  'mirror state-transition-error list': read('mirror state-transition-error list payments --link west'),
  explain: read('explain secret-orders --link west', 'explain orders --mirror --link west'),
  verify: read('verify orders gone --link west'),
  'tail read': read(
    'tail read src/cli/fakes/cut-off.log',
    'tail read src/cli/fakes/cut-off.log --max 2',
    'tail read no-such-file.log',
  ),
  top: read('top --once', 'top --once --partitions --sort name'),
  events: read('events --max 5', 'events --max 2 --type state --type missed'),
  'group list': read('group list --link west'),
  'group adopt': asking('group adopt billing --link west'),
  'consumer-group list': read('consumer-group list'),
  'consumer-group lag': read('consumer-group lag billing'),
  'acl list': read('acl list --link west'),
  'topic list': read('topic list'),
  'topic describe': read('topic describe orders', 'topic describe orders --all-configs'),
  'topic create': read('topic create orders --partitions 2', 'topic create orders --partitions two'),
  'topic update': read('topic update orders --config retention.ms=1 --dry-run'),
  'topic delete': asking('topic delete orders'),
  'node list': read('node list'),
  'node drain': read('node drain 1', 'node drain 7'),
  'node placement': read('node placement'),
  'node unregister': [...read('node unregister 1'), ...asking('node unregister 1002')],
  // Its answer is different each time.
  'user hash': [{ args: 'user hash a:b', humanOnly: true }],
  completion: [{ args: 'completion tcsh', humanOnly: true }],
}

/** The whole content of all golden files by name. */
export async function goldenFiles(): Promise<Map<string, string>> {
  const node = await startFixedNode()
  try {
    const files = new Map([['help.txt', await helpText(node)]])
    for (const { path } of COMMANDS) files.set(`${path.replaceAll(' ', '-')}.txt`, await commandText(node, path))
    return files
  } finally {
    await node.close()
  }
}

async function helpText(node: FixedNode): Promise<string> {
  const all = ['--help', ...Object.keys(GROUPS).map(group => `${group} --help`)]
  return (await Promise.all(all.map(args => invocation(node, { args }, { columns: 80 })))).join('\n')
}

async function commandText(node: FixedNode, path: string): Promise<string> {
  const texts = [await invocation(node, { args: `${path} --help` }, { columns: 80 })]
  for (const each of CASES[path] ?? []) {
    for (const columns of WIDTHS) texts.push(await invocation(node, each, { columns }))
    if (each.answer !== undefined || each.humanOnly) continue
    for (const format of ['json', 'yaml']) texts.push(await invocation(node, { args: `${each.args} -o ${format}` }, {}))
  }
  return texts.join('\n')
}

async function invocation(node: FixedNode, { args, answer }: Case, { columns }: { columns?: number }): Promise<string> {
  const { code, out, err, asked } = await lockstepAt(node.url, args.split(' '), { answer, columns })
  const place = columns === undefined ? '' : `   # ${columns} columns`
  const stderr = err === '' ? '' : err.replace(/^/gm, '! ').replace(/! $/, '')
  const prompt = asked.map(question => `${question}${answer}\n`.replace(/^/gm, '? ').replace(/\? $/, '')).join('')
  return `$ lockstep ${args}${place}\n${prompt}${out}${stderr}= exit code ${code}\n`
}
