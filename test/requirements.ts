/** What the suites need beside Node, and whether this machine has it; used by the runner's summary and by the suites. */
import { spawnSync } from 'node:child_process'

/** True when a missing tool must fail the suites instead of skipping them (set in CI). */
export const requireEverything = process.env['LOCKSTEP_REQUIRE_ALL'] === '1'

const answers = new Map<string, boolean>()

/** Does `command ...args` start and succeed here? Asked once per process. */
function runs(command: string, args: readonly string[]): boolean {
  const key = [command, ...args].join(' ')
  const known = answers.get(key)
  if (known !== undefined) return known
  const answer = spawnSync(command, args, { stdio: 'ignore' }).status === 0
  answers.set(key, answer)
  return answer
}

/** Java 17+ with its compiler, and Maven: needed for every suite against real Kafka. */
export const hasJava = (): boolean => runs('java', ['-version']) && runs('javac', ['-version']) && runs('mvn', ['-v'])

export const hasKcat = (): boolean => runs('kcat', ['-V'])

/** One line per group of suites that this machine cannot run, with what would make it possible. */
export function missingForSuites(): string[] {
  const missing: string[] = []
  if (!hasJava())
    missing.push('the suites against real Apache Kafka: Java 17 (java, javac) and Maven (mvn) are not on the PATH')
  if (!hasKcat()) missing.push('reading and writing with kcat: kcat is not on the PATH')
  return missing
}
