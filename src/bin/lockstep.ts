#!/usr/bin/env node
/** The binary: `server` and `demo` start nodes, everything else is a client of the REST API. */
import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { collect } from '../cli/config-option.ts'
import type { CliEnvironment } from '../cli/context.ts'
import { buildProgram, runProgram } from '../cli/program.ts'
import { version } from '../node/version.ts'

/** Node's default of four is too few: every partition that is written to waits for the disk in a thread of its own. */
const FILE_THREADS = '16'

let nodeExitCode: number | undefined

function addServer(program: Command): void {
  program
    .command('server')
    .description('run a node')
    .option('--config <file>', "properties file with Kafka's names")
    .option('--set <name=value>', 'override one property; repeatable', collect)
    .action(async (options: { config?: string; set?: string[] }) => {
      // Read by libuv when its first thread is needed.
      process.env['UV_THREADPOOL_SIZE'] ??= FILE_THREADS
      const { runServer } = await import('../node/run-server.ts')
      nodeExitCode = await runServer({ config: options.config, set: options.set ?? [] })
    })
}

function addDemo(program: Command): void {
  program
    .command('demo')
    .description('a source and a mirror cluster on this machine, live')
    .option('--once', 'mirror 200 000 records, kill the source, fail over, compare, and end')
    .option('--source <host:port>', 'mirror from a Kafka of yours instead')
    .option('--topic <name>', 'the topic to mirror from it')
    .action(async (options: { once?: boolean; source?: string; topic?: string }) => {
      const { runDemo } = await import('../node/demo/run-demo.ts')
      nodeExitCode = await runDemo(
        { once: options.once === true, source: options.source, topic: options.topic },
        {
          out: text => process.stdout.write(text),
          err: text => process.stderr.write(text),
          interactive: process.stdout.isTTY === true,
          columns: () => process.stdout.columns ?? 80,
          rows: () => process.stdout.rows ?? 24,
        },
      )
    })
}

const environment: CliEnvironment = {
  terminal: {
    out: text => process.stdout.write(text),
    err: text => process.stderr.write(text),
    interactive: process.stdout.isTTY === true && process.stdin.isTTY === true,
    async ask(question) {
      const lines = createInterface({ input: process.stdin, output: process.stderr })
      try {
        return await lines.question(question)
      } finally {
        lines.close()
      }
    },
  },
  env: process.env,
}

/** A clone's launcher says how long it took to provision; the published package has no launcher. */
function versionText(): string {
  const bootstrapMs = process.env['LOCKSTEP_BOOTSTRAP_MS']
  const launcher = bootstrapMs === undefined ? '' : `, bootstrap ${bootstrapMs} ms`
  return `lockstep ${version} (Node ${process.versions.node}${launcher})`
}

const code = await runProgram(
  buildProgram(environment, versionText(), [addServer, addDemo]),
  process.argv.slice(2),
  environment,
)
process.exitCode = code === 0 ? (nodeExitCode ?? 0) : code
if (nodeExitCode !== undefined) process.exit()
