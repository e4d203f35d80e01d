// Complete Apache Kafka distributions as jars, resolved with Maven once per version; used by clusters and the driver.
import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cached } from '../cache.ts'

/** Versions that the suites run against. */
export type KafkaVersion = '4.3.1' | '3.9.2'

/** Folder with every jar of that Kafka version (use `${folder}/*` as class path); downloads it the first time. */
export function kafkaJars(version: KafkaVersion): Promise<string> {
  return cached(`kafka/${version}`, async folder => {
    const pom = fileURLToPath(new URL('pom.xml', import.meta.url))
    await promisify(execFile)(
      'mvn',
      [
        '-q',
        '-B',
        '-f',
        pom,
        `-Dkafka.version=${version}`,
        'dependency:copy-dependencies',
        `-DoutputDirectory=${folder}`,
      ],
      { timeout: 280_000, maxBuffer: 16 << 20 },
    )
  })
}

let missing: string | undefined

/** Whether Java 17+ (with its compiler) and Maven are on this machine. */
export function javaAvailable(): boolean {
  return missingTools() === ''
}

/**
 * Value for the `skip` option of a test that needs Java: false, or why it is skipped. Where LOCKSTEP_REQUIRE_JAVA or
 * LOCKSTEP_REQUIRE_ALL is set nothing is skipped: a missing tool throws.
 */
export function skipWithoutJava(): string | false {
  const tools = missingTools()
  if (tools === '') return false
  const message = `needs ${tools} on this machine`
  if (process.env['LOCKSTEP_REQUIRE_JAVA'] || process.env['LOCKSTEP_REQUIRE_ALL']) throw new Error(message)
  return message
}

function missingTools(): string {
  missing ??= [
    majorVersion('java', ['-version']) < 17 ? 'java 17 or newer' : '',
    majorVersion('javac', ['-version']) < 17 ? 'javac 17 or newer' : '',
    spawnSync('mvn', ['-v']).status === 0 ? '' : 'mvn',
  ]
    .filter(tool => tool !== '')
    .join(', ')
  return missing
}

function majorVersion(command: string, args: string[]): number {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) return 0
  return Number(/(?:version "|javac )(\d+)/.exec(`${stdout}${stderr}`)?.[1] ?? 0)
}
