/** Which topics the own retention of a node may touch. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { Uuid } from '../core/uuid.ts'
import type { WriteStatus } from '../link/ports.ts'
import { linkRetentionGate } from './link-retention-gate.ts'

const mirror = (copied: readonly string[] | undefined): WriteStatus => ({
  kind: 'mirror',
  message: '',
  takesMarkers: false,
  copiedConfigs: copied && new Set(copied),
})

test('own retention holds for writable topics and for mirrors whose retention is not copied', () => {
  const cases: [WriteStatus, boolean][] = [
    [{ kind: 'writable' }, true],
    [{ kind: 'unknown', message: '' }, false],
    [mirror(undefined), false],
    [mirror(['retention.ms', 'cleanup.policy']), false],
    [mirror(['retention.bytes']), false],
    [mirror(['cleanup.policy']), true],
  ]
  for (const [status, allowed] of cases)
    strictEqual(
      linkRetentionGate(
        () => status,
        () => undefined,
      ).mayDelete('id', 't'),
      allowed,
    )
})

test('behind a write fence what the mirror is meant to have holds, and no default', () => {
  const meant = new Map<string, ReadonlyMap<string, string | null> | undefined>([
    ['plain', undefined],
    [
      'aged',
      new Map([
        ['retention.ms', '5000'],
        ['retention.bytes', null],
      ]),
    ],
    [
      'unset',
      new Map([
        ['retention.ms', null],
        ['retention.bytes', null],
      ]),
    ],
  ])
  const gate = linkRetentionGate(
    () => ({ kind: 'writable' }),
    topicId => meant.get(topicId),
  )
  deepStrictEqual(
    [...meant.keys()].map(topicId => gate.limitsOf(topicId as Uuid)),
    [undefined, { retentionMs: 5000, retentionBytes: -1 }, { retentionMs: -1, retentionBytes: -1 }],
  )
})
