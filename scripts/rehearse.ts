/** `npm run rehearse [migration|disaster]`: leaves a real Kafka for a Lockstep node, planned or not, under load, and reports what that cost. Needs Java, Maven and Python. */
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { LARGER } from '../test/rehearsal/bounded.ts'
import { rehearseDisaster } from '../test/rehearsal/disaster.ts'
import { rehearseMigration } from '../test/rehearsal/migration.ts'
import { humanReport } from '../test/rehearsal/report.ts'
import type { RehearsalOptions } from '../test/rehearsal/scene.ts'
import { missingForSuites } from '../test/requirements.ts'

const usage = `usage: npm run rehearse -- [migration|disaster] [options]
Without a name both are rehearsed, one after the other.
  --topics N    topics of the source (default ${LARGER.topics}, at least 12)
  --groups N    consumer groups (default ${LARGER.groups})
  --acls N      ACLs (default ${LARGER.acls})
  --seconds N   how long producers and consumers work before the source is left (default ${LARGER.seconds})
  --burst N     most records that a producer sends at a time (default ${LARGER.burst})
  --large-bytes N  most bytes of a record in topics of large ones (default ${LARGER.largeBytes})
  --source V    4.3.1 (default) or 3.9.2
  --seed N      of what is written (default: by chance)
  --node-kill   disaster: the Lockstep node, too, is killed during the failover, and started again
  --json FILE   writes the report as JSON, too; - prints it instead of the readable one
Exit code 0: every promise was kept; 1: one was not, or the rehearsal could not go on.`

const { values, positionals } = parseArgs({
  options: {
    topics: { type: 'string', default: String(LARGER.topics) },
    groups: { type: 'string', default: String(LARGER.groups) },
    acls: { type: 'string', default: String(LARGER.acls) },
    seconds: { type: 'string', default: String(LARGER.seconds) },
    burst: { type: 'string', default: String(LARGER.burst) },
    'large-bytes': { type: 'string', default: String(LARGER.largeBytes) },
    source: { type: 'string', default: '4.3.1' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    'node-kill': { type: 'boolean', default: false },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})

const rehearsals = { migration: rehearseMigration, disaster: rehearseDisaster }
const isKnown = (name: string): name is keyof typeof rehearsals => name in rehearsals
const numbers = ['topics', 'groups', 'acls', 'seconds', 'burst', 'large-bytes', 'seed'] as const
const wrong = [
  ...positionals.filter(name => !isKnown(name)).map(name => `there is no rehearsal "${name}"`),
  ...numbers.filter(name => !/^\d+$/.test(values[name])).map(name => `--${name} must be a whole number`),
  ...(values.source === '4.3.1' || values.source === '3.9.2' ? [] : ['--source must be 4.3.1 or 3.9.2']),
  ...(Number(values.topics) < 12 ? ['--topics must be at least 12'] : []),
]
if (values.help || wrong.length > 0) {
  console.log([...wrong, usage].join('\n'))
  process.exit(wrong.length > 0 ? 2 : 0)
}
const missing = missingForSuites()
if (missing.length > 0) {
  console.log(`missing here: ${missing.join('; ')}`)
  process.exit(1)
}

const options: RehearsalOptions = {
  size: {
    topics: Number(values.topics),
    groups: Number(values.groups),
    acls: Number(values.acls),
    seconds: Number(values.seconds),
    burst: Number(values.burst),
    largeBytes: Number(values['large-bytes']),
  },
  source: values.source === '3.9.2' ? '3.9.2' : '4.3.1',
  seed: Number(values.seed),
  nodeKill: values['node-kill'],
  tell: line => process.stderr.write(`${line}\n`),
}
const chosen = positionals.filter(isKnown)
const reports = []
for (const name of chosen.length > 0 ? chosen : (['migration', 'disaster'] as const)) {
  const report = await rehearsals[name](options)
  if (values.json !== '-') console.log(humanReport(report))
  reports.push(report)
}
if (values.json === '-') console.log(JSON.stringify(reports, null, 2))
else if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(reports, null, 2)}\n`)
process.exitCode = reports.every(({ faults }) => faults.length === 0) ? 0 : 1
