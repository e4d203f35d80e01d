// What a tool of Kafka printed, without what differs from node to node by nature; used by the scenarios of tools.
import type { Side, ToolRun } from './side.ts'

/** Runs the tool and shows what it printed, the lines in alphabetical order, and the kinds of its errors. */
export async function printedBy(side: Side, tool: string, args: readonly string[]): Promise<string> {
  return plain(side, await side.tool(tool, args))
}

function plain(side: Side, { status, out, err, error }: ToolRun): string {
  const lines = out
    .replaceAll(side.dataDirectory, 'DIRECTORY')
    .replaceAll(side.bootstrap, 'NODE')
    .replaceAll(/\b[A-Za-z0-9_-]{22}\b/g, 'ID')
    // Texts of errors are each side's own.
    .replaceAll(/(Could not \w+ \S+ to \S+\.|Error while executing \w+ command :|error: [\w.]+:).*/g, '$1')
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !/^(at [\w.]+|Caused by:|\.\.\. \d+ more|lockstep\.ToolExit)/.test(line))
  return [`status ${status}${error === undefined ? '' : ` ${error}`}`, ...lines.sort(), ...problems(err)].join('\n')
}

/** The kind of what went wrong. */
const problems = (err: string): string[] => [
  ...new Set([...err.matchAll(/\b(?:[a-z]+\.)+([A-Z]\w*(?:Exception|Error))\b/g)].map(([, name = '']) => name)),
]
