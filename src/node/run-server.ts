/** `lockstep server`: reads the configuration, starts a node and runs it until a signal; called by bin/lockstep. */
import { messageOf, OperationalError } from '../core/errors.ts'
import { LoggerLevels } from '../core/logger-levels.ts'
import { endOnFatalErrors } from './fatal-errors.ts'
import { checkCluster } from './joined/check-cluster.ts'
import type { JoinedSettings } from './joined/joined-settings.ts'
import { keptAlive } from './kept-alive.ts'
import { startNode } from './node.ts'
import { nodeLogger } from './node-logger.ts'
import { type NodeSettings, parseSettings, readPropertiesFile } from './settings.ts'
import { SettingsError } from './settings-error.ts'
import { commitOfBuild, version } from './version.ts'

export interface ServerOptions {
  readonly config: string | undefined
  /** `name=value` overrides of the file. */
  readonly set: readonly string[]
  /** Only look at the configuration, and end. */
  readonly check?: boolean
}

/** A graceful stop may take this long; then the process ends without it (recovery makes that safe). */
const STOP_MAX_MS = 10_000
/** A broker of a cluster hands its leaderships over first. */
const LEAVE_MAX_MS = 30_000

/** Resolves to the exit code when the node has stopped. */
export function runServer(options: ServerOptions): Promise<number> {
  return keptAlive(() => serve(options))
}

async function serve(options: ServerOptions): Promise<number> {
  let settings: ReturnType<typeof parseSettings>
  try {
    settings = parseSettings(propertiesOf(options))
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    process.stderr.write(`Error: the configuration cannot be used: ${error.message}\n`)
    return 2
  }
  if (options.check) return settings.joined ? checkJoined(settings, settings.joined) : tellChecked(settings.warnings)
  const loggers = new LoggerLevels(settings.logLevel)
  const logger = nodeLogger({ levels: loggers, out: process.stdout })
  endOnFatalErrors(logger)
  for (const warning of settings.warnings) logger.warn(warning)
  const stopped = signalled()
  try {
    const commit = commitOfBuild()
    const starting = startNode(settings, { logger, loggers, version, commit })
    // A node may wait for the controllers of its cluster, or for its last session to end: for whoever stops it that is a crash.
    const node = await (settings.joined ? Promise.race([starting, stopped]) : starting)
    if (typeof node === 'string') {
      logger.info('stopped before the node was ready', { signal: node })
      return 0
    }
    logger.info('the node is ready', {
      version,
      ...(commit === undefined ? {} : { commit: commit.slice(0, 12) }),
      kafka: node.kafkaAddresses.join(','),
      rest: node.restUrl,
      clusterId: node.clusterId,
    })
    const signal = await stopped
    logger.info('stopping', { signal })
    await withinLimit(node.close(), settings.joined ? LEAVE_MAX_MS : STOP_MAX_MS)
    logger.info('stopped')
    return 0
  } catch (error) {
    const hint = error instanceof OperationalError && error.hint ? ` (${error.hint})` : ''
    logger.error('the node cannot go on', { error: messageOf(error) })
    process.stderr.write(`Error: ${messageOf(error)}${hint}\n`)
    return 1
  }
}

/** Asks the cluster; exit code 1 if it cannot be joined as it is. */
async function checkJoined(settings: NodeSettings, joined: JoinedSettings): Promise<number> {
  const { facts, warnings, problems } = await checkCluster(settings, joined)
  for (const fact of facts) process.stdout.write(`${fact}\n`)
  for (const warning of [...settings.warnings, ...warnings]) process.stderr.write(`Warning: ${warning}\n`)
  for (const problem of problems) process.stderr.write(`Error: ${problem}\n`)
  if (problems.length > 0) return 1
  process.stdout.write('The cluster can be joined.\n')
  return 0
}

function tellChecked(warnings: readonly string[]): number {
  for (const warning of warnings) process.stderr.write(`Warning: ${warning}\n`)
  process.stdout.write('The configuration can be used.\n')
  return 0
}

function propertiesOf(options: ServerOptions): Map<string, string> {
  const properties = options.config === undefined ? new Map<string, string>() : readPropertiesFile(options.config)
  for (const text of options.set) {
    const at = text.indexOf('=')
    if (at <= 0) throw new SettingsError([`--set "${text}" is not of the form name=value`])
    properties.set(text.slice(0, at).trim(), text.slice(at + 1).trim())
  }
  return properties
}

/** Resolves with the first SIGINT or SIGTERM; the second one ends the process at once. */
function signalled(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    let seen = 0
    const onSignal = (signal: NodeJS.Signals) => {
      seen++
      if (seen > 1) process.exit(1)
      resolve(signal)
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
  })
}

async function withinLimit(closing: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the node did not stop within ${limitMs / 1000} s`)), limitMs)
  })
  await Promise.race([closing, limit]).finally(() => clearTimeout(timer))
}
