/** Groups and tasks of links from the command line and over REST: what is asked, what is printed. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ZERO_UUID } from '../core/uuid.ts'
import { FakeEngine, fakeLink } from '../rest/fakes/fake-engine.ts'
import { lockstep } from './fakes/run-command.ts'

function engineWithLink(): FakeEngine {
  const engine = new FakeEngine()
  engine.links = [fakeLink('west', ZERO_UUID)]
  return engine
}

test('group list shows offsets, states and reasons', async () => {
  const engine = engineWithLink()
  const place = { topicType: 'LOCAL_MIRROR', topic: 'orders', partition: 3 } as const
  const row = { group: 'billing', sourceGroup: 'billing', ...place, sourceOffset: 9 }
  engine.groupOffsets = [
    { ...row, syncedOffset: null, syncedTimeMs: null, clamped: false, state: 'CONFLICT', reason: 'somebody else' },
  ]
  const { code, out } = await lockstep(engine, ['group', 'list', '--link', 'west'])
  strictEqual(code, 0)
  match(out, /billing +LOCAL_MIRROR +orders +3 +9 +false +CONFLICT +somebody else/)
  const [json] = JSON.parse((await lockstep(engine, ['group', 'list', '--link', 'west', '-o', 'json'])).out)
  deepStrictEqual([json.group, json.source_offset, json.state], ['billing', 9, 'CONFLICT'])
})

test('group adopt asks first and says how many offsets are followed', async () => {
  const engine = engineWithLink()
  const args = ['group', 'adopt', 'a/b group', '--link', 'west']
  strictEqual((await lockstep(engine, args, 'n')).code, 1)
  const { code, out } = await lockstep(engine, args, 'y')
  strictEqual(code, 0)
  match(out, /"a\/b group": 2 offset\(s\)/)
  deepStrictEqual(engine.calls, [{ method: 'adoptGroup', arguments: ['west', 'a/b group'] }])
})

test('link task list and run', async () => {
  const engine = engineWithLink()
  const { out } = await lockstep(engine, ['link', 'task', 'list', 'west'])
  match(out, /^Task Name +State +Errors/)
  strictEqual((await lockstep(engine, ['link', 'task', 'run', 'west', 'ConsumerOffsetSync'])).code, 0)
  deepStrictEqual(engine.calls, [{ method: 'runTask', arguments: ['west', 'ConsumerOffsetSync'] }])
})

test('acl list shows what a link created, and who could not log in', async () => {
  const { out, err } = await lockstep(engineWithLink(), ['acl', 'list', '--link', 'west'])
  match(out, /User:app +ALLOW +READ +TOPIC +orders +LITERAL/)
  match(err, /Without SCRAM credentials here.*: User:app/)
})
