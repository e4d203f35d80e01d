/** Levels of the root and of single components. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { LoggerLevels } from './logger-levels.ts'

test('a component follows the root until it has a level of its own', () => {
  const levels = new LoggerLevels('info')
  levels.note('network')
  levels.note('broker')
  deepStrictEqual(levels.names, ['root', 'broker', 'network'])
  deepStrictEqual([levels.writes('debug', 'broker'), levels.writes('info', 'broker')], [false, true])
  levels.set('broker', 'debug')
  deepStrictEqual([levels.writes('debug', 'broker'), levels.writes('debug', 'network')], [true, false])
  levels.set('root', 'silent')
  deepStrictEqual([levels.writes('error', 'network'), levels.writes('debug', 'broker')], [false, true])
  levels.set('broker', undefined)
  strictEqual(levels.levelOf('broker'), 'silent')
  levels.set('root', undefined)
  strictEqual(levels.levelOf(), 'silent')
})
