// A transactional Java producer that lives between commands of the driver; the suite of transactions drives it through kills of the node.
import type { JavaDriver } from '../java/driver.ts'

/** Retries quickly, and for as long as a node that was killed may need on a slow machine. */
const PATIENT = {
  'linger.ms': '0',
  'retry.backoff.ms': '20',
  'retry.backoff.max.ms': '200',
  'reconnect.backoff.ms': '20',
  'reconnect.backoff.max.ms': '200',
  'request.timeout.ms': '10000',
  'delivery.timeout.ms': '120000',
  'max.block.ms': '120000',
}

export class TransactionalProducer {
  readonly #driver: JavaDriver
  readonly #id: string

  private constructor(driver: JavaDriver, id: string) {
    this.#driver = driver
    this.#id = id
  }

  /** `name` tells producers of the same transactional id apart. */
  static async open(
    driver: JavaDriver,
    at: { bootstrap: string; transactionalId: string; name?: string; properties?: Record<string, string> },
  ): Promise<TransactionalProducer> {
    const { bootstrap, transactionalId, name = transactionalId } = at
    const producer = new TransactionalProducer(driver, name)
    const properties = { ...PATIENT, 'transactional.id': transactionalId, ...at.properties }
    await producer.#do('open', { bootstrap, properties })
    await producer.#do('init')
    return producer
  }

  begin = (): Promise<unknown> => this.#do('begin')
  commit = (): Promise<unknown> => this.#do('commit')
  abort = (): Promise<unknown> => this.#do('abort')
  close = (): Promise<unknown> => this.#do('close')

  /** Answers [partition, offset] or {error} for each record. */
  send(topic: string, partition: number, values: readonly string[]): Promise<unknown[]> {
    const records = values.map(value => ({ key: null, value }))
    return this.#driver.call('producer', { id: this.#id, op: 'send', topic, partition, records })
  }

  offsets(group: string, offsets: Readonly<Record<string, number>>): Promise<unknown> {
    return this.#do('offsets', { group, offsets })
  }

  #do(op: string, args: object = {}): Promise<unknown> {
    return this.#driver.call('producer', { id: this.#id, op, ...args })
  }
}
