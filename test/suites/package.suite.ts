/** The package as it would be published: built, packed and unpacked elsewhere, its binary runs emitted JavaScript alone. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { repositoryRoot } from '../cache.ts'
import { startProcess } from '../child-process.ts'
import { eventually } from '../eventually.ts'
import { freePorts } from '../free-port.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-package-'))
const unpacked = join(folder, 'package')
const binary = join(unpacked, 'dist/bin/lockstep.js')

before(() => {
  const staging = join(folder, 'staging')
  const tsc = join(repositoryRoot, 'node_modules/typescript/bin/tsc')
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', join(staging, 'dist')], {
    cwd: repositoryRoot,
  })
  for (const name of ['package.json', 'LICENSE', 'README.md', 'CHANGELOG.md'])
    cpSync(join(repositoryRoot, name), join(staging, name))
  const packed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], {
    cwd: staging,
  })
  execFileSync('tar', ['-xzf', join(folder, packed.toString().trim()), '-C', folder])
  // Dependencies as an installation would put them beside it.
  symlinkSync(join(repositoryRoot, 'node_modules'), join(unpacked, 'node_modules'))
})

after(() => rmSync(folder, { recursive: true, force: true }))

test('the package holds the emitted product, its licence and its documents, and no test', () => {
  deepEqual(readdirSync(unpacked).sort(), [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist',
    'node_modules',
    'package.json',
  ])
  const files = readdirSync(join(unpacked, 'dist'), { recursive: true, encoding: 'utf8' })
  ok(files.includes(join('bin', 'lockstep.js')))
  deepEqual(
    files.filter(file => /\.test\.|\.suite\.|\/fakes\/|(?<!\.d)\.ts$/.test(file)),
    [],
  )
})

test('its binary tells its version and the same commands as the sources', () => {
  const manifest = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'))
  deepEqual(manifest.bin, { lockstep: 'dist/bin/lockstep.js' })
  match(readFileSync(binary, 'utf8'), /^#!\/usr\/bin\/env node\n/)
  const { LOCKSTEP_BOOTSTRAP_MS: _launcher, ...env } = process.env
  equal(
    execFileSync(process.execPath, [binary, '--version'], { env }).toString(),
    `lockstep ${manifest.version} (Node ${process.versions.node})\n`,
  )
  const help = (entry: string) => spawnSync(process.execPath, [entry, '--help']).stdout.toString()
  equal(help(binary), help(join(repositoryRoot, 'src/bin/lockstep.ts')))
})

test('it runs a node', async () => {
  const [kafka, rest] = await freePorts(2)
  const config = join(folder, 'server.properties')
  const lines = [
    'node.id=1',
    `listeners=PLAINTEXT://127.0.0.1:${kafka}`,
    `rest.listeners=http://127.0.0.1:${rest}`,
    `log.dirs=${join(folder, 'data')}`,
  ]
  writeFileSync(config, lines.join('\n'))
  const node = await startProcess(process.execPath, [binary, 'server', '--config', config])
  try {
    await eventually(async () => equal((await fetch(`http://127.0.0.1:${rest}/readyz`)).status, 200, node.output()))
  } finally {
    await node.stop()
  }
  match(node.output(), /"msg":"stopped"/)
})
