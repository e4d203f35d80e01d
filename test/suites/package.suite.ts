/** The package as it would be published: packed and installed as docs/installation.md says, into an empty folder, and used from there alone. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { repositoryRoot } from '../cache.ts'
import { type RunningProcess, runTool, startProcess } from '../child-process.ts'
import { blocksOf } from '../documents/command-blocks.ts'
import { DocumentShell } from '../documents/document-shell.ts'
import { eventually } from '../eventually.ts'
import { freePorts } from '../free-port.ts'
import { writeProperties } from '../properties-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-package-'))
const installed = join(folder, 'empty')
const unpacked = join(installed, 'node_modules/lockstep')
const binary = join(installed, 'node_modules/.bin/lockstep')
/** What each block of the documentation told. */
const installation: string[] = []
const manifest = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8'))

/** Nothing of an npm or a launcher that runs this suite. */
const cleanEnv: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|LOCKSTEP_)/i.test(name)),
)

/** The binary runs with the Node of this process, and has never seen this user's home. */
const env: NodeJS.ProcessEnv = {
  ...cleanEnv,
  PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
  HOME: folder,
}

/** An answer that stalls is asked for anew: npm's own patience is five minutes for each. */
const brisk = '--fetch-timeout=30000 --fetch-retries=5 --fetch-retry-mintimeout=1000'
/** What docs/installation.md writes, and what it is here. */
const NAMES = {
  'npm pack': `npm pack --pack-destination ${folder}`,
  'npm install': `npm install --prefer-offline --no-audit --no-fund ${brisk}`,
  './lockstep-': `${folder}/lockstep-`,
  '/opt/lockstep': installed,
  '/usr/local/bin': folder,
  '/etc/lockstep': join(folder, 'etc'),
}

async function install(): Promise<void> {
  // Registry and certificates are found where this user's npm finds them.
  const shell = await DocumentShell.open(folder, { PATH: `${folder}${delimiter}${env['PATH']}`, HOME: homedir() })
  const start = `unset \${!npm_@} \${!LOCKSTEP_@}; cd '${repositoryRoot}'`
  try {
    for (const block of blocksOf('docs/installation.md').filter(({ flags }) => flags.includes('package'))) {
      const text = Object.entries(NAMES).reduce((told, [written, here]) => told.replaceAll(written, here), block.text)
      const { failed, output } = await shell.run({ ...block, text: `${start}\n${text}` })
      equal(failed, '', `${block.file}:${block.line}: ${failed}\n${output}`)
      installation.push(output)
    }
  } finally {
    await shell.close()
  }
}

const lockstep = (args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
  runTool(binary, args, { env: { ...env, ...more } })

before(install)
after(() => rmSync(folder, { recursive: true, force: true }))

test('it is installed by the commands of the documentation, which end at a configuration that can be used', () => {
  const [version = '', check = ''] = installation
  match(version, new RegExp(`^lockstep ${manifest.version} `, 'm'))
  match(check, /^The configuration can be used\.$/m)
})

test('the package holds the emitted product, its licence and its documents, and no test', () => {
  deepEqual(readdirSync(unpacked).sort(), [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'deploy',
    'dist',
    'docs',
    'package.json',
  ])
  const files = readdirSync(join(unpacked, 'dist'), { recursive: true, encoding: 'utf8' })
  ok(files.includes(join('bin', 'lockstep.js')))
  deepEqual(
    files.filter(file => /\.test\.|\.suite\.|\/fakes\/|(?<!\.d)\.ts$/.test(file)),
    [],
  )
})

test('its binary tells its version with the commit, and the same commands as the sources', async () => {
  match(readFileSync(join(unpacked, 'dist/bin/lockstep.js'), 'utf8'), /^#!\/usr\/bin\/env node\n/)
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: repositoryRoot }).toString().slice(0, 12)
  const told = `lockstep ${manifest.version} (commit ${commit}, Node ${process.versions.node})\n`
  const { stdout, stderr } = await lockstep(['--version'])
  equal(stdout, told, stderr)
  const source = join(repositoryRoot, 'src/bin/lockstep.ts')
  const ofSources = (argument: string) => {
    const told = spawnSync(process.execPath, [source, argument], { env, encoding: 'utf8' })
    equal(told.status, 0, told.stderr)
    return told.stdout
  }
  equal(ofSources('--version'), told)
  equal((await lockstep(['--help'])).stdout, ofSources('--help'))
})

test('an older Node is told which one is needed', async () => {
  const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '24.11.1' } })"
  const { status, stderr } = await runTool(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(older)}`, join(unpacked, 'dist/bin/lockstep.js'), 'top'],
    { env },
  )
  deepEqual([status, stderr], [1, 'Error: lockstep needs Node 24.12 or newer, this is 24.11.1\n'])
})

/** A node of the package; resolves when it is ready. */
async function startNode(name: string): Promise<{ kafka: string; url: string; node: RunningProcess }> {
  const [kafka, rest] = await freePorts(2)
  const config = join(folder, `${name}.properties`)
  const properties = {
    'node.id': '1',
    listeners: `PLAINTEXT://127.0.0.1:${kafka}`,
    'rest.listeners': `http://127.0.0.1:${rest}`,
    'log.dirs': join(folder, name),
  }
  await writeProperties(config, properties)
  const checked = await lockstep(['server', '--check', '--config', config])
  deepEqual([checked.status, checked.stdout], [0, 'The configuration can be used.\n'], checked.stderr)
  const url = `http://127.0.0.1:${rest}`
  const node = await startProcess(binary, ['server', '--config', config], { env })
  await eventually(async () => equal((await fetch(`${url}/readyz`)).status, 200, node.output()))
  return { kafka: `127.0.0.1:${kafka}`, url, node }
}

test('it runs two nodes, and its command line makes a topic, a link and a mirror on them', async () => {
  const west = await startNode('west')
  const east = await startNode('east')
  const run = async (url: string, ...args: string[]) => {
    const { status, stdout, stderr } = await lockstep(args, { LOCKSTEP_URL: url })
    equal(status, 0, `${args.join(' ')}: ${stdout}${stderr}`)
    return stdout
  }
  try {
    equal(await run(west.url, 'topic', 'create', 'orders', '--partitions', '2'), 'Created topic "orders".\n')
    match(
      await run(east.url, 'link', 'create', 'west', '--source-bootstrap-server', west.kafka),
      /^Created cluster link "west" with configs:\n/,
    )
    equal(await run(east.url, 'mirror', 'create', 'orders', '--link', 'west'), 'Created mirror topic "orders".\n')
    await eventually(async () => {
      const [mirror] = JSON.parse(await run(east.url, 'mirror', 'list', '-o', 'json'))
      deepEqual([mirror.mirror_status, mirror.max_per_partition_mirror_lag], ['ACTIVE', 0])
    })
    const page = await fetch(`${east.url}/`)
    equal(page.status, 200)
    const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(await page.text())?.[1]
    equal((await fetch(`${east.url}/${script}`)).status, 200)
  } finally {
    await Promise.all([west.node.stop(30_000), east.node.stop(30_000)])
  }
  for (const { node } of [west, east]) match(node.output(), /"msg":"stopped"/)
})
