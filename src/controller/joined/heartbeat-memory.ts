/** Memory that the main thread and the heartbeat thread share: what the next heartbeat says, and a sign of life of the main thread. */

const cells = {
  metadataOffset: 0,
  brokerEpoch: 1,
  ticks: 2,
  wantFence: 3,
  wantShutDown: 4,
  cordoned: 5,
  starting: 6,
} as const
type Cell = keyof typeof cells

export class HeartbeatMemory {
  readonly buffer: SharedArrayBuffer
  readonly #cells: BigInt64Array

  /** `buffer` = that of the other thread. A new one says: nothing applied, not registered, fence me. */
  constructor(buffer?: SharedArrayBuffer) {
    this.buffer = buffer ?? new SharedArrayBuffer(8 * Object.keys(cells).length)
    this.#cells = new BigInt64Array(this.buffer)
    if (buffer !== undefined) return
    this.#set('metadataOffset', -1n)
    this.#set('brokerEpoch', -1n)
    this.wantFence = true
  }

  /** Last offset of the metadata log that all parts of this node have followed. */
  get metadataOffset(): bigint {
    return this.#get('metadataOffset')
  }

  set metadataOffset(offset: bigint) {
    this.#set('metadataOffset', offset)
  }

  /** −1 = not registered: nothing is sent. */
  get brokerEpoch(): bigint {
    return this.#get('brokerEpoch')
  }

  set brokerEpoch(epoch: bigint) {
    this.#set('brokerEpoch', epoch)
  }

  get wantFence(): boolean {
    return this.#get('wantFence') !== 0n
  }

  set wantFence(wanted: boolean) {
    this.#set('wantFence', wanted ? 1n : 0n)
  }

  get wantShutDown(): boolean {
    return this.#get('wantShutDown') !== 0n
  }

  set wantShutDown(wanted: boolean) {
    this.#set('wantShutDown', wanted ? 1n : 0n)
  }

  /** Shall new replicas stay away from our directory (KIP-1066)? */
  get cordoned(): boolean {
    return this.#get('cordoned') !== 0n
  }

  set cordoned(wanted: boolean) {
    this.#set('cordoned', wanted ? 1n : 0n)
  }

  /** The node goes on with the session of its last life, and does not serve yet: its main thread may be busy with opening logs. */
  get starting(): boolean {
    return this.#get('starting') !== 0n
  }

  set starting(is: boolean) {
    this.#set('starting', is ? 1n : 0n)
  }

  /** Rises for as long as the main thread turns. */
  get ticks(): bigint {
    return this.#get('ticks')
  }

  tick(): void {
    Atomics.add(this.#cells, cells.ticks, 1n)
  }

  #get(cell: Cell): bigint {
    return Atomics.load(this.#cells, cells[cell])
  }

  #set(cell: Cell, value: bigint): void {
    Atomics.store(this.#cells, cells[cell], value)
  }
}
