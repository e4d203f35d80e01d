// One supervised child process (a Kafka node, a Lockstep node, a client tool): its output, its end, its kill.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'

const outputCharsMax = 64 * 1024
const running = new Set<ChildProcess>()

// A test process that ends early, by an uncaught error or the runner's timeout, leaves no children behind.
process.on('exit', endChildren)
// A program that handles the signal itself closes what it opened.
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => process.listenerCount(signal) === 1 && process.exit(1))

function endChildren(): void {
  for (const child of running) child.kill('SIGKILL')
}

/** A started process. */
export interface RunningProcess {
  readonly pid: number
  /** The last 64 Ki characters of what it wrote to standard output and error. */
  readonly output: () => string
  /** Whether it has not ended yet. */
  readonly alive: () => boolean
  /** Sends SIGTERM, then SIGKILL after `graceMs` (default 10 s), and waits for the end. */
  readonly stop: (graceMs?: number) => Promise<void>
  /** kill -9, and waits for the end. */
  readonly kill: () => Promise<void>
}

/** Starts `command`; rejects when it cannot be started at all. */
export async function startProcess(
  command: string,
  args: readonly string[],
  options: Pick<SpawnOptions, 'cwd' | 'env'> = {},
): Promise<RunningProcess> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const collect = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-outputCharsMax)
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  await once(child, 'spawn')
  const ended = trackEnd(child)
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    child.kill(signal)
    await ended
  }
  return {
    pid: child.pid ?? 0,
    output: () => output,
    alive: () => running.has(child),
    kill: () => end('SIGKILL'),
    stop: async (graceMs = 10_000) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
      await end('SIGTERM')
      clearTimeout(timer)
    },
  }
}

function trackEnd(child: ChildProcess): Promise<void> {
  running.add(child)
  return new Promise(resolve => {
    child.once('close', () => {
      running.delete(child)
      resolve()
    })
  })
}

/** What a tool that ran to its end answered. */
export interface ToolResult {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

interface ToolOptions {
  readonly input?: string | Buffer
  readonly timeoutMs?: number
  /** Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv
  /** Default: that of this process. */
  readonly cwd?: string
}

/** Runs a tool to its end, feeding `input`; kills it after `timeoutMs` (default 120 s). */
export async function runTool(
  command: string,
  args: readonly string[],
  { input = '', timeoutMs = 120_000, env, cwd }: ToolOptions = {},
): Promise<ToolResult> {
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL' } as const
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    ...limits,
    ...(env && { env }),
    ...(cwd && { cwd }),
  })
  running.add(child)
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  try {
    await once(child, 'close')
  } finally {
    running.delete(child)
  }
  return {
    status: child.exitCode,
    stdout: Buffer.concat(stdout).toString(),
    stderr: Buffer.concat(stderr).toString(),
  }
}
