/** One run of the binary: the command line on the process's terminal, its exit code. Called by lockstep.ts. */
import { Program } from '../cli/program.ts'
import { systemTerminal } from '../cli/system-terminal.ts'
import { commitOfBuild, version } from '../node/version.ts'
import { RUN_NODES } from './node-commands.ts'

/** A clone's launcher says how long it took to provision; the published package has no launcher. */
function versionText(): string {
  const bootstrapMs = process.env['LOCKSTEP_BOOTSTRAP_MS']
  const launcher = bootstrapMs === undefined ? '' : `, bootstrap ${bootstrapMs} ms`
  const commit = commitOfBuild()
  const build = commit === undefined ? '' : `commit ${commit.slice(0, 12)}, `
  return `lockstep ${version} (${build}Node ${process.versions.node}${launcher})`
}

/** Sets the exit code of the process; `server` and `demo` also end it, whatever still runs. */
export async function runBinary(args: readonly string[]): Promise<void> {
  const environment = { terminal: systemTerminal(), env: process.env }
  process.exitCode = await new Program(environment, versionText(), RUN_NODES).run(args)
  if (RUN_NODES.some(({ path }) => args.includes(path))) process.exit()
}
