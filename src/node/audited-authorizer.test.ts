/** Tests of the log of refusals. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { allowAll } from '../metadata/authorizer.ts'
import { emptyImage } from '../metadata/metadata-image.ts'
import { StandardAuthorizer } from '../metadata/standard-authorizer.ts'
import { RecordingLogger } from '../network/fakes/recording-logger.ts'
import { audited } from './audited-authorizer.ts'

test('what is refused is logged with who asked for what, and without an authorizer there is nothing between', () => {
  const logger = new RecordingLogger()
  strictEqual(audited(allowAll, logger), allowAll)
  const authorizer = audited(new StandardAuthorizer({ superUsers: new Set(['User:a']), allowIfNoAcl: false }), logger)
  const action = { operation: 'READ', resource: 'TOPIC', name: 't' } as const
  strictEqual(authorizer.allows(emptyImage('c'), { principal: 'User:a', host: '::1' }, action), true)
  strictEqual(authorizer.allows(emptyImage('c'), { principal: 'User:b', host: '::1' }, action), false)
  deepStrictEqual(logger.lines, ['debug refused'])
})
