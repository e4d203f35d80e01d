/** Limits of connections come from the file and from configs altered at run time. */
import { ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../core/logger.ts'
import type { MetadataDelta } from '../metadata/metadata-delta.ts'
import { emptyImage, type MetadataImage } from '../metadata/metadata-image.ts'
import { ConnectionLimitsFromConfigs } from './connection-limits.ts'

function altered(values: Record<string, string>): MetadataImage {
  const image = emptyImage('c')
  const configs = image.configs.edit()
  configs.set('4:1', new Map(Object.entries(values)))
  return { ...image, configs: configs.finish() }
}

const delta = { changedConfigs: [{ type: 4, name: '1' }] } as unknown as MetadataDelta

test('altered limits hold at once, for all, for a listener and for an address', async () => {
  const file = new Map([['max.connections.per.ip', '1']])
  const limits = new ConnectionLimitsFromConfigs({ nodeId: 1, file, listeners: ['PLAIN'], logger: silentLogger })
  await limits.onImage(emptyImage('c'), { changedConfigs: [] } as unknown as MetadataDelta)
  const { quota } = limits
  ok(quota.enter('10.0.0.1'))
  strictEqual(quota.enter('10.0.0.1'), undefined)
  const values = {
    'max.connections.per.ip.overrides': '10.0.0.1:2, ::1:7',
    'listener.name.plain.max.connections': '1',
  }
  await limits.onImage(altered(values), delta)
  ok(quota.enter('10.0.0.1'))
  strictEqual(quota.enter('10.0.0.1'), undefined)
  let started = 0
  for (let i = 0; i < 3; i++) quota.admit('PLAIN', () => started++)
  strictEqual(started, 1)
  await limits.onImage(altered({}), delta)
  strictEqual(started, 3)
})
