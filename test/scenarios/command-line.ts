// The command line of the product, run as a user would; used by suites.
import { join } from 'node:path'
import { repositoryRoot } from '../cache.ts'
import { runTool, type ToolResult } from '../child-process.ts'
import type { LockstepNode } from '../lockstep-process.ts'

/** Runs `lockstep ARGS` against a node, with more environment variables if given. */
export function lockstep(
  node: LockstepNode,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ToolResult> {
  const command = [join(repositoryRoot, 'src/bin/lockstep.ts'), ...args, '--url', node.rest.origin]
  return runTool(process.execPath, command, { env: { ...process.env, ...env } })
}
