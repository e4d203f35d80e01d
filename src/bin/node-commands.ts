/** Rows of `lockstep server` and `lockstep demo`, which run nodes; everything else is a client of REST. */
import type { CommandRow } from '../cli/command-row.ts'

/** Node's default of four is too few: every partition that is written to waits for the disk in a thread of its own. */
const FILE_THREADS = '16'

interface ServerOptions {
  readonly config?: string
  readonly set?: readonly string[]
  readonly check?: boolean
}

interface DemoOptions {
  readonly once?: boolean
  readonly source?: string
  readonly topic?: string
}

async function runServer(options: ServerOptions): Promise<number> {
  // Read by libuv when its first thread is needed.
  process.env['UV_THREADPOOL_SIZE'] ??= FILE_THREADS
  const { runServer: run } = await import('../node/run-server.ts')
  return run({ config: options.config, set: [...(options.set ?? [])], check: options.check === true })
}

async function runDemo({ once, source, topic }: DemoOptions): Promise<number> {
  const { runDemo: run } = await import('../node/demo/run-demo.ts')
  return run(
    { once: once === true, source, topic },
    {
      out: text => process.stdout.write(text),
      err: text => process.stderr.write(text),
      interactive: process.stdout.isTTY === true,
      columns: () => process.stdout.columns ?? 80,
      rows: () => process.stdout.rows ?? 24,
    },
  )
}

export const RUN_NODES: readonly CommandRow[] = [
  {
    path: 'server',
    text: 'run a node',
    options: [
      { flags: '--config <file>', text: "properties file with Kafka's names", completes: 'files' },
      { flags: '--set <name=value>', text: 'override one property; repeatable', repeatable: true },
      {
        flags: '--check',
        text: 'look at the configuration, tell all that is wrong with it, and end; nothing is opened or created',
      },
    ],
    load: async () => (_context, _args, options: ServerOptions) => runServer(options),
  },
  {
    path: 'demo',
    text: 'a source and a mirror cluster on this machine, live',
    options: [
      { flags: '--once', text: 'mirror 200 000 records, kill the source, fail over, compare, and end' },
      { flags: '--source <host:port>', text: 'mirror from a Kafka of yours instead' },
      { flags: '--topic <name>', text: 'the topic to mirror from it' },
    ],
    load: async () => (_context, _args, options: DemoOptions) => runDemo(options),
  },
]
