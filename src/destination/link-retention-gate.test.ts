/** Which topics the own retention of a node may touch. */
import { strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
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
  for (const [status, allowed] of cases) strictEqual(linkRetentionGate(() => status).mayDelete('id', 't'), allowed)
})
