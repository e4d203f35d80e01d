/** The examples under deploy/ say nothing that the product does not know: properties, ports, paths, commands, limits of time. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { RUN_NODES } from '../../src/bin/node-commands.ts'
import { type NodeSettings, parseSettings, readPropertiesFile } from '../../src/node/settings.ts'
import { version } from '../../src/node/version.ts'

const contentOf = (name: string) => readFileSync(`deploy/${name}`, 'utf8')

/** A graceful stop of a node may take so long: `LEAVE_MAX_MS` and `STOP_MAX_MS` of run-server. */
const stopSeconds = { joined: 30, standalone: 10 }

function withFolder<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-deploy-'))
  try {
    return use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** As the node would read it, with the overrides of the command line. */
function settingsOf(text: string, overrides: readonly string[] = []): NodeSettings {
  return withFolder(folder => {
    const file = join(folder, 'server.properties')
    writeFileSync(file, text)
    const set = overrides.map(one => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)] as const)
    return parseSettings(new Map([...readPropertiesFile(file), ...set]))
  })
}

/** Every option is one of `lockstep server`; the values of `--config` and of each `--set`. */
function serverArguments([command, ...args]: readonly string[]): { readonly config: string; readonly set: string[] } {
  const row = RUN_NODES.find(({ path }) => path === 'server')
  strictEqual(command, row?.path)
  const known = row?.options?.map(({ flags }) => flags.split(' ')[0]) ?? []
  const pairs = Array.from({ length: args.length / 2 }, (_, index) => args.slice(2 * index, 2 * index + 2))
  for (const [name] of pairs) ok(known.includes(name), `${name} is no option of lockstep server`)
  const valuesOf = (wanted: string) => pairs.flatMap(([name, value = '']) => (name === wanted ? [value] : []))
  const [config = ''] = valuesOf('--config')
  return { config, set: valuesOf('--set') }
}

test('the example of a properties file can be used as it is', () => {
  const settings = settingsOf(contentOf('server.properties'))
  deepStrictEqual(settings.warnings, [])
  strictEqual(settings.dataDirectory, '/var/lib/lockstep/data')
})

test('the systemd unit starts the server on the documented file, and gives it time to stop', () => {
  const unit = contentOf('lockstep.service')
  const valueIn = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? ''
  const [binary = '', ...args] = valueIn('ExecStart').split(' ')
  strictEqual(binary, '/opt/lockstep/node_modules/.bin/lockstep')
  strictEqual(serverArguments(args).config, '/etc/lockstep/server.properties')
  ok(Number(valueIn('TimeoutStopSec')) > stopSeconds.joined)
  ok(settingsOf(contentOf('server.properties')).dataDirectory.startsWith(`/var/lib/${valueIn('StateDirectory')}/`))
})

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

test('systemd finds nothing wrong with the unit', { skip: !hasSystemd && 'there is no systemd-analyze here' }, () => {
  withFolder(folder => {
    const unit = join(folder, 'lockstep.service')
    // The node is not installed here.
    writeFileSync(unit, contentOf('lockstep.service').replace('/opt/lockstep/node_modules/.bin/lockstep', '/bin/sh'))
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
    const about = `${stdout}${stderr}`.split('\n').filter(line => line.includes('lockstep.service'))
    deepStrictEqual(about, [])
    strictEqual(status, 0, stderr)
  })
})

test('the container file is made of known instructions and starts the server on the documented file', () => {
  const lines = contentOf('Containerfile')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
  const instructions = lines.map(line => /^([A-Z]+) (.+)$/.exec(line)?.slice(1) ?? [line, ''])
  const known = ['FROM', 'COPY', 'RUN', 'ENV', 'USER', 'VOLUME', 'EXPOSE', 'STOPSIGNAL', 'ENTRYPOINT', 'CMD']
  deepStrictEqual(
    instructions.filter(([name]) => !known.includes(name ?? '')),
    [],
  )
  const valueIn = (wanted: string) => instructions.find(([name]) => name === wanted)?.[1] ?? ''
  const command = JSON.parse(valueIn('CMD')) as string[]
  deepStrictEqual(JSON.parse(valueIn('ENTRYPOINT')), ['lockstep'])
  strictEqual(serverArguments(command).config, '/etc/lockstep/server.properties')
  match(valueIn('FROM'), /^node:24-/)
  const settings = settingsOf(contentOf('server.properties'))
  const ports = [...settings.listeners.listen, settings.rest.endpoint].map(({ port }) => String(port))
  deepStrictEqual(valueIn('EXPOSE').split(' '), ports)
  ok(settings.dataDirectory.startsWith(`${valueIn('VOLUME')}/`))
})

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data?: Readonly<Record<string, string>>
  readonly spec?: Spec
}

interface Spec {
  readonly serviceName: string
  readonly selector: { readonly matchLabels: unknown }
  readonly ports: readonly { readonly port: number; readonly targetPort: string }[]
  readonly template: { readonly metadata: { readonly labels: unknown }; readonly spec: Pod }
  readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[]
}

interface Pod {
  readonly terminationGracePeriodSeconds: number
  readonly containers: readonly [Container]
  readonly volumes: readonly { readonly name: string }[]
}

interface Container {
  readonly image: string
  readonly args: readonly string[]
  readonly env?: readonly { readonly name: string }[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly [probe: `${string}Probe`]: { readonly httpGet: { readonly path: string; readonly port: string } }
}

function manifestsOf(name: string): Manifest[] {
  return parseAllDocuments(contentOf(`kubernetes/${name}`), { strict: true, uniqueKeys: true }).map(document => {
    deepStrictEqual([...document.errors, ...document.warnings], [])
    return document.toJS() as Manifest
  })
}

const ofKind = (manifests: readonly Manifest[], kind: string): Manifest => {
  const found = manifests.find(manifest => manifest.kind === kind)
  ok(found, `there is no ${kind}`)
  return found
}

for (const mode of ['standalone', 'joined'] as const) {
  const manifests = () => manifestsOf(`${mode}.yaml`)
  const pod = () => ofKind(manifests(), 'StatefulSet').spec?.template.spec as Pod
  const settings = () => {
    const [{ args, env = [] }] = pod().containers
    const named: Readonly<Record<string, string>> = { POD_NAME: 'lockstep-1', POD_INDEX: '1' }
    const set = serverArguments(args).set.map(one =>
      one.replace(/\$\((\w+)\)/g, (_whole, name: string) => {
        ok(
          env.some(variable => variable.name === name),
          `${name} is not in env`,
        )
        return named[name] ?? ''
      }),
    )
    return settingsOf(ofKind(manifests(), 'ConfigMap').data?.['server.properties'] ?? '', set)
  }

  test(`the Kubernetes example of a ${mode} node has a configuration that can be used`, () => {
    const { warnings, joined, rest, dataDirectory, secretKeyFile } = settings()
    // The examples say so, too.
    deepStrictEqual(warnings, ['rest.listeners: passwords travel to 0.0.0.0 in the clear; use https'])
    strictEqual(joined !== undefined, mode === 'joined')
    const { volumeMounts } = pod().containers[0]
    const isMounted = (path: string) => volumeMounts.some(({ mountPath }) => path.startsWith(`${mountPath}/`))
    for (const path of [dataDirectory, rest.usersFile, secretKeyFile, serverArguments(pod().containers[0].args).config])
      ok(path === undefined || isMounted(path), `${path} is on no volume`)
  })

  test(`the Kubernetes example of a ${mode} node names ports, volumes and probes that exist`, () => {
    const all = manifests()
    const { spec } = ofKind(all, 'StatefulSet')
    const [container] = pod().containers
    const { listeners, rest } = settings()
    const ports = new Map(container.ports.map(({ name, containerPort }) => [name, containerPort]))
    deepStrictEqual([ports.get('kafka'), ports.get('rest')], [listeners.listen[0]?.port, rest.endpoint.port])
    for (const { port, targetPort } of ofKind(all, 'Service').spec?.ports ?? [])
      strictEqual(port, ports.get(targetPort))
    for (const name of ['readinessProbe', 'startupProbe', 'livenessProbe'] as const) {
      const { path, port } = container[name]?.httpGet ?? { path: '', port: '' }
      ok(['/readyz', '/healthz'].includes(path) && port === 'rest', name)
    }
    const volumes = [...pod().volumes, ...(spec?.volumeClaimTemplates.map(({ metadata }) => metadata) ?? [])]
    deepStrictEqual(container.volumeMounts.map(({ name }) => name).sort(), volumes.map(({ name }) => name).sort())
    deepStrictEqual(spec?.template.metadata.labels, spec?.selector.matchLabels)
    strictEqual(spec?.serviceName, ofKind(all, 'Service').metadata.name)
    strictEqual(container.image, `lockstep:${version}`)
    ok(pod().terminationGracePeriodSeconds > stopSeconds[mode])
  })
}
