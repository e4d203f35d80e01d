// Share consumers in Java that die with their process, and the check of their ledgers: nothing lost, nothing accepted twice.
import { deepStrictEqual, ok } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { JavaDriver } from '../java/driver.ts'

export interface ShareLoadPlace {
  readonly bootstrap: string
  readonly topic: string
  readonly group: string
  /** Where ledgers are kept. */
  readonly folder: string
}

/** What became of the records, by value. */
export interface ShareAccount {
  /** Delivery counts, in the order of the ledgers. */
  readonly delivered: ReadonlyMap<string, readonly number[]>
  /** Somebody meant to accept them. */
  readonly accepted: ReadonlySet<string>
  /** How often it was certain that they were accepted. */
  readonly confirmed: ReadonlyMap<string, number>
  readonly rejected: ReadonlySet<string>
  readonly exceptions: readonly string[]
}

/** Consumers in a Java process of their own. */
export class ShareConsumers {
  readonly #driver: JavaDriver
  readonly #ledger: string

  private constructor(driver: JavaDriver, ledger: string) {
    this.#driver = driver
    this.#ledger = ledger
  }

  static async start(place: ShareLoadPlace, { name, seed }: { name: string; seed: number }): Promise<ShareConsumers> {
    const driver = await JavaDriver.start({ version: '4.3.1', heapMb: 256 })
    const { folder, ...rest } = place
    const ledger = join(folder, name)
    await driver.call('share-load', { op: 'start', ...rest, ledger, explicit: 2, implicit: 1, seed })
    return new ShareConsumers(driver, ledger)
  }

  /** The process stands still: connections stay open, nothing is acknowledged. */
  freeze(): void {
    this.#driver.freeze()
  }

  thaw(): void {
    this.#driver.thaw()
  }

  /** kill -9. */
  async close(): Promise<void> {
    this.#driver.thaw()
    await this.#driver.close()
  }

  /** Resolves to what ended a consumer before its time. */
  stop(): Promise<readonly string[]> {
    return this.#driver.call('share-load', { op: 'stop' })
  }

  async lines(): Promise<string[]> {
    const text = await readFile(this.#ledger, 'utf8').catch(() => '')
    // What a kill left of the last line tells nothing.
    return text.split('\n').slice(0, -1)
  }
}

export async function accountOf(consumers: readonly ShareConsumers[]): Promise<ShareAccount> {
  const delivered = new Map<string, number[]>()
  const accepted = new Set<string>()
  const confirmed = new Map<string, number>()
  const rejected = new Set<string>()
  const exceptions: string[] = []
  for (const line of (await Promise.all(consumers.map(one => one.lines()))).flat()) {
    const [kind, value = '', count] = line.split(' ')
    if (kind === 'D') delivered.set(value, [...(delivered.get(value) ?? []), Number(count)])
    else if (kind === 'A') accepted.add(value)
    else if (kind === 'C') confirmed.set(value, (confirmed.get(value) ?? 0) + 1)
    else if (kind === 'R') rejected.add(value)
    else exceptions.push(line)
  }
  return { delivered, accepted, confirmed, rejected, exceptions }
}

/** Records of which nobody can say yet that they are done: neither accepted nor rejected, nor delivered as often as allowed. */
export const missingFrom = (
  { accepted, rejected, delivered }: ShareAccount,
  written: readonly string[],
  countMax: number,
): string[] =>
  written.filter(
    value => !accepted.has(value) && !rejected.has(value) && !(delivered.get(value) ?? []).includes(countMax),
  )

/** Every record that was written was accepted, rejected, or delivered as often as allowed; none was accepted twice. */
export function checkAccount(account: ShareAccount, written: readonly string[], countMax: number): void {
  deepStrictEqual(missingFrom(account, written, countMax), [], 'records that the group lost')
  const twice = [...account.confirmed].filter(([, times]) => times > 1)
  deepStrictEqual(twice, [], 'records that two members accepted')
  for (const [value, counts] of account.delivered)
    for (const count of counts) ok(count >= 1 && count <= countMax, `${value} was delivered ${count} times`)
}
