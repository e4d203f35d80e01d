// Complete Apache Kafka distributions as jars, resolved with Maven once per version; used by clusters and the driver.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cached } from '../cache.ts'
import { skipWithout } from '../requirements.ts'

/** Versions that the suites run against. */
export type KafkaVersion = '4.3.1' | '4.1.2' | '3.9.2'

const versions: readonly KafkaVersion[] = ['4.3.1', '4.1.2', '3.9.2']

const versionIn = (variable: string): KafkaVersion | undefined =>
  versions.find(version => version === process.env[variable])

/** The version of the source in suites that run once for each: LOCKSTEP_SOURCE_VERSION, or the newest. */
export const sourceVersion = (): KafkaVersion => versionIn('LOCKSTEP_SOURCE_VERSION') ?? '4.3.1'

/** For a suite that takes several sources in one run: LOCKSTEP_SOURCE_VERSION names them, separated by commas. */
export function sourceVersions(): readonly KafkaVersion[] {
  const named = process.env['LOCKSTEP_SOURCE_VERSION']?.split(',') ?? []
  const found = versions.filter(version => named.includes(version))
  return found.length > 0 ? found : ['4.3.1']
}

/** The version of the cluster that the destination joins: LOCKSTEP_DESTINATION_VERSION; undefined = a standalone node. */
export const destinationVersion = (): KafkaVersion | undefined => versionIn('LOCKSTEP_DESTINATION_VERSION')

/**
 * Folder with every jar of that Kafka version (use `${folder}/*` as class path); downloads it the first time. One Maven
 * at a time: its local repository is not made for several that download.
 */
export function kafkaJars(version: KafkaVersion): Promise<string> {
  return cached(`kafka/${version}`, folder => copyDependencies('pom.xml', version, folder), { lock: 'maven' })
}

/** Folder with the jar of Kafka Streams, to be used beside those of `kafkaJars`. */
export function kafkaStreamsJars(version: KafkaVersion): Promise<string> {
  return cached(`kafka-streams/${version}`, folder => copyDependencies('streams.xml', version, folder), {
    lock: 'maven',
  })
}

/** Versions that need ZooKeeper; 2.1 is the oldest that a source may be. */
export type OldKafkaVersion = '2.1.1' | '2.8.2'

/** Folder with the jars of a broker of that version, and of a ZooKeeper. */
export function oldKafkaJars(version: OldKafkaVersion): Promise<string> {
  return cached(`kafka/${version}`, folder => copyDependencies('old-kafka.xml', version, folder), { lock: 'maven' })
}

async function copyDependencies(file: string, version: string, folder: string): Promise<void> {
  const pom = fileURLToPath(new URL(file, import.meta.url))
  const goal = ['dependency:copy-dependencies', `-Dkafka.version=${version}`, `-DoutputDirectory=${folder}`]
  await promisify(execFile)('mvn', ['-q', '-B', '-f', pom, ...goal], { timeout: 280_000, maxBuffer: 16 << 20 })
}

/** Value for the `skip` option of a test that needs Java: false, or why it is skipped (never where all is required). */
export const skipWithoutJava = (): string | false => skipWithout('java')
