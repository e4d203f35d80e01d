/** Completion in the shells themselves: words are typed on a terminal, Tab is pressed, and the line is what the shell made of it. */
import { deepEqual } from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type FixedNode, startFixedNode } from '../../src/cli/fakes/fixed-node.ts'
import { repositoryRoot } from '../cache.ts'
import { runTool } from '../child-process.ts'
import { skipWithout } from '../requirements.ts'

/** What is typed before Tab, and what stands there afterwards. */
const lines: readonly (readonly [typed: string, completed: string])[] = [
  ['lockstep mirror pro', 'lockstep mirror promote '],
  ['lockstep link configuration u', 'lockstep link configuration update '],
  ['lockstep mirror promote --tog', 'lockstep mirror promote --together '],
  ['lockstep link list -o y', 'lockstep link list -o yaml '],
  ['lockstep link describe w', 'lockstep link describe west '],
  ['lockstep mirror describe --link west pay', 'lockstep mirror describe --link west payments '],
  ['lockstep mirror describe --link=we', 'lockstep mirror describe --link=west '],
  ['lockstep server --config serv', 'lockstep server --config server.properties '],
]
const typed = lines.map(([before]) => before)

let folder: string
let node: FixedNode
const written = () => join(folder, 'lines')

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lockstep-completion-'))
  node = await startFixedNode()
  const bin = join(folder, 'bin')
  await mkdir(bin)
  const entry = join(repositoryRoot, 'src/bin/lockstep.ts')
  await writeFile(join(bin, 'lockstep'), `#!/bin/sh\nexec '${process.execPath}' '${entry}' "$@"\n`)
  await chmod(join(bin, 'lockstep'), 0o755)
  await writeFile(join(folder, 'server.properties'), '')
})

after(async () => {
  await node?.close()
  await rm(folder, { recursive: true, force: true })
})

const environment = () => ({
  ...process.env,
  PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
  HOME: folder,
  ZDOTDIR: folder,
  TERM: 'dumb',
  LOCKSTEP_URL: node.url,
  NODE_COMPILE_CACHE: join(repositoryRoot, '.cache/compiled'),
})

/** Types into a shell on a terminal: each line, Tab, and the key that notes what stands there and clears it (not the first half of another one). */
async function typeInto(shell: string): Promise<string[]> {
  await writeFile(written(), '')
  const input = `${typed.map(line => `${line}\t\x14`).join('')}exit\n`
  const { stdout } = await runTool('script', ['-qec', `cd '${folder}' && ${shell}`, '/dev/null'], {
    env: environment(),
    input,
  })
  const noted = await readFile(written(), 'utf8')
  return noted === '' ? [stdout] : noted.trimEnd().split('\n')
}

const completed = lines.map(([, line]) => line.trimEnd())

test('bash completes commands, options, files, and names that the node knows', async () => {
  const rc = [
    'source <(lockstep completion bash)',
    "bind 'set enable-bracketed-paste off'",
    `note() { printf '%s\\n' "$READLINE_LINE" >> '${written()}'; READLINE_LINE=; READLINE_POINT=0; }`,
    `bind -x '"\\C-t": note'`,
  ]
  await writeFile(join(folder, 'bashrc'), `${rc.join('\n')}\n`)
  deepEqual(
    (await typeInto(`bash --rcfile '${folder}/bashrc' -i`)).map(line => line.trimEnd()),
    completed,
  )
})

test('zsh completes commands, options, files, and names that the node knows', {
  skip: skipWithout('zsh'),
}, async () => {
  const rc = [
    'autoload -Uz compinit && compinit -u -D',
    'source <(lockstep completion zsh)',
    `note() { print -r -- "$BUFFER" >> '${written()}'; BUFFER=; }`,
    "zle -N note; bindkey -e; bindkey '^T' note",
  ]
  await writeFile(join(folder, '.zshrc'), `${rc.join('\n')}\n`)
  deepEqual(
    (await typeInto('zsh -i')).map(line => line.trimEnd()),
    completed,
  )
})

test('zsh finds the completion as a file of its own, too', { skip: skipWithout('zsh') }, async () => {
  const functions = join(folder, 'functions')
  await mkdir(functions, { recursive: true })
  const { stdout } = await runTool(join(folder, 'bin/lockstep'), ['completion', 'zsh'], { env: environment() })
  await writeFile(join(functions, '_lockstep'), stdout)
  const rc = [
    `fpath=('${functions}' $fpath)`,
    'autoload -Uz compinit && compinit -u -D',
    `note() { print -r -- "$BUFFER" >> '${written()}'; BUFFER=; }`,
    "zle -N note; bindkey -e; bindkey '^T' note",
  ]
  await writeFile(join(folder, '.zshrc'), `${rc.join('\n')}\n`)
  deepEqual(
    (await typeInto('zsh -i')).map(line => line.trimEnd()),
    completed,
  )
})

test('fish completes commands, options, files, and names that the node knows', {
  skip: skipWithout('fish'),
}, async () => {
  const asks = typed.map(line => `complete -C '${line}'`)
  const { stdout, stderr } = await runTool(
    'fish',
    ['--no-config', '-c', [`cd '${folder}'`, 'lockstep completion fish | source', ...asks].join('\n')],
    { env: environment() },
  )
  // A candidate a line, with its meaning behind a tab; each stands for the last word.
  const answers = stdout
    .trimEnd()
    .split('\n')
    .map(line => line.split('\t')[0])
  deepEqual([answers, stderr], [completed.map(line => line.split(' ').at(-1)), ''])
})
