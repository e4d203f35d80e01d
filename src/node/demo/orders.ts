/** The orders that the demo's producer writes: small JSON values keyed by customer. Pure; called by the producer. */
import { crc32 } from 'node:zlib'
import type { Random } from '../../core/random.ts'

export interface Order {
  readonly customer: string
  /** JSON text. */
  readonly text: string
}

const CUSTOMERS = 5000
const ITEMS = ['espresso cups', 'desk lamp', 'notebook', 'running shoes', 'rain jacket', 'headphones', 'bread knife']
const CITIES = ['Bergen', 'Porto', 'Graz', 'Lyon', 'Gdańsk', 'Ghent', 'Turku', 'Córdoba']
const QUANTITY_MAX = 5

/** The order with that number, placed at `timeMs`. */
export function orderOf(number: number, timeMs: number, random: Random): Order {
  const pick = (values: readonly string[]) => values[Math.floor(random() * values.length)]
  const customer = `customer-${String(Math.floor(random() * CUSTOMERS)).padStart(4, '0')}`
  const value = {
    order: number,
    customer,
    item: pick(ITEMS),
    quantity: 1 + Math.floor(random() * QUANTITY_MAX),
    price: (1 + random() * 200).toFixed(2),
    currency: 'EUR',
    city: pick(CITIES),
    placed: new Date(timeMs).toISOString(),
  }
  return { customer, text: JSON.stringify(value) }
}

/** The partition of a key, as librdkafka's `consistent` partitioner chooses it: `kcat -P -X partitioner=consistent` agrees. */
export const partitionOfKey = (key: Buffer, partitions: number): number => crc32(key) % partitions
