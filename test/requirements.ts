/** What the suites need beside Node, and whether this machine has it; used by the runner's summary and by the suites. */
import { spawnSync } from 'node:child_process'

/** True when a missing tool must fail the suites instead of skipping them (set in CI). */
export const requireEverything = process.env['LOCKSTEP_REQUIRE_ALL'] === '1'

const answers = new Map<string, boolean>()

/** Does `command ...args` start and succeed here, and print what is wanted? Asked once per process. */
function runs(command: string, args: readonly string[], wanted = (_printed: string) => true): boolean {
  const key = [command, ...args].join(' ')
  const known = answers.get(key)
  if (known !== undefined) return known
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  const answer = status === 0 && wanted(`${stdout}${stderr}`)
  answers.set(key, answer)
  return answer
}

const isJava17 = (printed: string) => Number(/(?:version "|javac )(\d+)/.exec(printed)?.[1] ?? 0) >= 17

/** Java 17+ with its compiler, and Maven: needed for every suite against real Kafka. */
export const hasJava = (): boolean =>
  runs('java', ['-version'], isJava17) && runs('javac', ['-version'], isJava17) && runs('mvn', ['-v'])

export const hasKcat = (): boolean => runs('kcat', ['-V'])

/** Python 3 with its venv module: confluent-kafka is installed into a folder of its own. */
export const hasPython = (): boolean => runs('python3', ['-c', 'import venv, ensurepip'])

/** Prometheus's own tool, in Debian's package prometheus. */
const hasPromtool = (): boolean => runs('promtool', ['--version'])

const CHROMIUMS = ['chromium', 'chromium-browser', 'google-chrome']
const startsHere = (command: string) => runs(command, ['--version'])

/** The command that starts a Chromium here. */
export const chromiumCommand = (): string => {
  const name = CHROMIUMS.find(startsHere) ?? 'chromium'
  return spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim()
}

const hasChromium = (): boolean => CHROMIUMS.some(startsHere)

const tools = {
  java: {
    has: hasJava,
    what: 'the suites against real Apache Kafka: Java 17 (java, javac) and Maven (mvn) are not on the PATH',
  },
  kcat: { has: hasKcat, what: 'reading and writing with kcat: kcat is not on the PATH' },
  python: {
    has: hasPython,
    what: 'reading and writing with confluent-kafka: python3 with the modules venv and ensurepip is not on the PATH',
  },
  zsh: { has: () => runs('zsh', ['--version']), what: 'completion in zsh: zsh is not on the PATH' },
  fish: { has: () => runs('fish', ['--version']), what: 'completion in fish: fish is not on the PATH' },
  promtool: {
    has: hasPromtool,
    what: 'the alerts as Prometheus judges them: promtool is not on the PATH',
  },
  chromium: { has: hasChromium, what: "the operator's page in a browser: chromium is not on the PATH" },
} as const

/** A tool that suites use when it is there. */
export type Tool = keyof typeof tools

/** One line per group of suites that this machine cannot run, with what would make it possible. */
export function missingForSuites(): string[] {
  return Object.values(tools).flatMap(({ has, what }) => (has() ? [] : [what]))
}

/**
 * For the `skip` option of a test: false, or why it cannot run here. With LOCKSTEP_REQUIRE_ALL=1 (or, for Java,
 * LOCKSTEP_REQUIRE_JAVA=1) nothing is skipped and the test fails for want of its tool.
 */
export function skipWithout(...needed: readonly Tool[]): string | false {
  const missing = needed.filter(tool => !tools[tool].has())
  if (missing.length === 0 || requireEverything) return false
  if (missing.includes('java') && process.env['LOCKSTEP_REQUIRE_JAVA'] === '1') return false
  return missing.map(tool => tools[tool].what).join('; ')
}
