// An archive of the classes that a Kafka node loads (AppCDS), made once per version: with it a JVM needs a third of the time and of the CPU to start; used by clusters and the driver.
import { ok } from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cached } from '../cache.ts'
import { runTool, startProcess } from '../child-process.ts'
import { eventually } from '../eventually.ts'
import { freePorts } from '../free-port.ts'
import { writeProperties } from '../properties-file.ts'
import { type KafkaVersion, kafkaJars } from './jars.ts'

/** What makes a JVM of ours start quickly. */
export const quickJvm = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'] as const

const file = 'kafka.jsa'
/** What a node says when it is up: one that is stopped before may wait for minutes. */
const started = 'Kafka Server started'
const asked = new Map<KafkaVersion, Promise<readonly string[]>>()

/**
 * Arguments of a JVM whose class path begins with the jars of that version. A JVM that cannot use the archive, since it is another one
 * than made it, goes on without and says nothing. Empty where there is none.
 */
export function classArchive(version: KafkaVersion): Promise<readonly string[]> {
  // Everything is only slower without, hence one try per process.
  const answer = asked.get(version) ?? findArchive(version).catch(() => [])
  asked.set(version, answer)
  return answer
}

async function findArchive(version: KafkaVersion): Promise<readonly string[]> {
  const jars = await kafkaJars(version)
  const folder = await cached(`class-archives/${version}`, into => makeArchive(jars, join(into, file)))
  return [`-XX:SharedArchiveFile=${join(folder, file)}`, '-Xlog:disable']
}

/** A node that starts and stops has loaded most of what the nodes of suites load. */
async function makeArchive(jars: string, archive: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-class-archive-'))
  try {
    const [port = 0, controllerPort = 0] = await freePorts(2)
    const properties = join(folder, 'server.properties')
    await writeProperties(properties, combinedNode({ port, controllerPort, dataDirectory: join(folder, 'data') }))
    const java = (...args: string[]) => ['-Xmx512m', ...quickJvm, ...args]
    const classPath = ['-cp', join(jars, '*')]
    const format = ['kafka.tools.StorageTool', 'format', '-t', '4L6g3nShT-eMCtK--X86sw', '-c', properties]
    await runTool('java', java(...classPath, ...format))
    const dumping = [`-XX:ArchiveClassesAtExit=${archive}`, '-Xlog:disable']
    const node = await startProcess('java', java(...dumping, ...classPath, 'kafka.Kafka', properties), { cwd: folder })
    await eventually(() => ok(!node.alive() || node.output().includes(started), 'it does not start')).finally(() =>
      node.stop(60_000),
    )
    ok(existsSync(archive), 'no archive was written')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const combinedNode = (of: { port: number; controllerPort: number; dataDirectory: string }) => ({
  'process.roles': 'broker,controller',
  'node.id': '1',
  'controller.quorum.voters': `1@127.0.0.1:${of.controllerPort}`,
  'controller.listener.names': 'CONTROLLER',
  listeners: `PLAINTEXT://127.0.0.1:${of.port},CONTROLLER://127.0.0.1:${of.controllerPort}`,
  'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
  'inter.broker.listener.name': 'PLAINTEXT',
  'log.dirs': of.dataDirectory,
})
