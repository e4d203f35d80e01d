/** Both rehearsals, bounded: a real Kafka with logins and ACLs is left for a node under load, once as planned and once because it died. */
import { deepStrictEqual } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sourceVersion } from '../kafka/jars.ts'
import { BOUNDED } from '../rehearsal/bounded.ts'
import { rehearseDisaster } from '../rehearsal/disaster.ts'
import { rehearseMigration } from '../rehearsal/migration.ts'
import { humanReport } from '../rehearsal/report.ts'
import { skipWithout } from '../requirements.ts'
import { chosenSeed } from '../scenarios/chance.ts'

const skip = skipWithout('java', 'python')
const options = (t: TestContext) => ({
  size: BOUNDED,
  source: sourceVersion(),
  seed: chosenSeed(),
  tell: (line: string) => t.diagnostic(line),
})

test('a migration of everything by one command loses nothing, and consumers read again at most what was not committed', {
  skip,
}, async t => {
  const report = await rehearseMigration(options(t))
  t.diagnostic(humanReport(report))
  deepStrictEqual(report.faults, [])
})

test('after a source that was killed, clients go on at the mirror with what it has, through a kill of the node', {
  skip,
}, async t => {
  const report = await rehearseDisaster({ ...options(t), nodeKill: true })
  t.diagnostic(humanReport(report))
  deepStrictEqual(report.faults, [])
})
