/** Who comes too quickly. */
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionRates } from './connection-rates.ts'

const from = (address: string, nowMs = 0, listener = 'A') => ({ listener, address, nowMs })

test('connections of an address over its quota are refused, others of it later are not, and other addresses never', () => {
  const rates = new ConnectionRates()
  rates.change({ addresses: new Map([['10.0.0.1', 0.2]]) })
  deepEqual(
    [1, 2, 3].map(() => rates.arrives(from('10.0.0.1')).verdict),
    ['wait', 'wait', 'refuse'],
  )
  equal(rates.arrives(from('10.0.0.1')).ms, 1000)
  deepEqual(rates.arrives(from('10.0.0.2')), { verdict: 'wait', ms: 0 })
  equal(rates.arrives(from('10.0.0.1', 11_000)).verdict, 'wait')
  rates.change({ addresses: new Map([[null, 0.1]]) })
  equal(rates.arrives(from('10.0.0.9')).verdict, 'wait')
  equal(rates.arrives(from('10.0.0.9')).verdict, 'refuse')
})

test('connections above the rate of all, or of their listener, wait', () => {
  const rates = new ConnectionRates()
  rates.change({ total: 0.2, listeners: new Map([['B', 0.1]]) })
  deepEqual(rates.arrives(from('10.0.0.1', 0, 'B')), { verdict: 'wait', ms: 0 })
  deepEqual(rates.arrives(from('10.0.0.1', 0, 'B')), { verdict: 'wait', ms: 1000 })
  deepEqual(rates.arrives(from('10.0.0.1', 0, 'A')), { verdict: 'wait', ms: 1000 })
  deepEqual(rates.arrives(from('10.0.0.1', 22_000, 'A')), { verdict: 'wait', ms: 0 })
})
