/** Finds the active controller of a quorum and keeps one connection to it; the observer, the commands and the heartbeat thread have one of these each. */
import { messageOf, OperationalError } from '../../core/errors.ts'
import type { BrokerConnection } from '../../network/broker-connection.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import type { VersionRange } from '../../protocol/schema/version-range.ts'
import { joinedError } from './joined-errors.ts'
import { askingOnly, fetchMetadata, type LeaderHint } from './metadata-fetch.ts'
import { type OpenConnection, placeText, type ServerPlace } from './quorum-connection.ts'

/** What is known of a quorum before anybody has been asked. */
export interface QuorumAddresses {
  /** `controller.quorum.bootstrap.servers`. */
  readonly bootstrap: readonly ServerPlace[]
  /** `controller.quorum.voters`, by node id. */
  readonly voters: ReadonlyMap<number, ServerPlace>
}

export interface ActiveControllerOptions {
  readonly addresses: QuorumAddresses
  /** Asked anew for each connection: null while it is not known, so that nobody checks it. */
  readonly clusterId: () => string | null
  readonly open: OpenConnection
  /** For one answer. */
  readonly timeoutMs: number
}

/** The leader of the metadata log in one epoch. */
export interface QuorumLeader {
  readonly epoch: number
  readonly place: ServerPlace
  readonly connection: BrokerConnection
}

/** A quorum has few nodes; whoever sends us on more often than this sends us in circles. */
const PLACES_MAX = 32

export class ActiveController {
  readonly #options: ActiveControllerOptions
  readonly #closing = new AbortController()
  /** Addresses that answers told, by node id. */
  readonly #learned = new Map<number, ServerPlace>()
  #leader: QuorumLeader | undefined
  #search: Promise<QuorumLeader> | undefined
  #epoch = 0
  /** Where the next search begins, so that one dead controller is not always the first that is tried. */
  #rotation = 0

  constructor(options: ActiveControllerOptions) {
    this.#options = options
  }

  /** The newest epoch that anybody told. */
  get epoch(): number {
    return this.#epoch
  }

  /** What the leader that we are connected to takes of an API; undefined without one, or if it does not have the API. */
  servedVersions(apiKey: number): VersionRange | undefined {
    return this.#leader?.connection.isOpen ? this.#leader.connection.brokerApis.get(apiKey) : undefined
  }

  /**
   * The leader as far as we know, or as one round of questions finds it. Rejects with CONTROLLER_UNREACHABLE, and with
   * OTHER_CLUSTER or CONTROLLER_REFUSED as soon as somebody says so. Retrying is the caller's business.
   */
  async leader(): Promise<QuorumLeader> {
    if (this.#closing.signal.aborted) throw joinedError('CONTROLLER_CLOSED', undefined)
    if (this.#leader?.connection.isOpen) return this.#leader
    this.#search ??= this.#find().finally(() => {
      this.#search = undefined
    })
    return await this.#search
  }

  /** This leader is none any more, or does not answer: the next question searches. */
  lost(leader: QuorumLeader): void {
    leader.connection.close()
    if (this.#leader === leader) this.#leader = undefined
  }

  close(): void {
    this.#closing.abort()
    this.#leader?.connection.close()
  }

  async #find(): Promise<QuorumLeader> {
    const queue = this.#places()
    const tried = new Set<string>()
    const failures: string[] = []
    for (let place = queue.shift(); place !== undefined; place = queue.shift()) {
      const address = placeText(place)
      if (tried.has(address) || tried.size >= PLACES_MAX) continue
      tried.add(address)
      try {
        const found = await this.#ask(place)
        if ('connection' in found) {
          if (this.#closing.signal.aborted) found.connection.close()
          this.#leader = found
          return found
        }
        failures.push(`${address} is not the active controller`)
        if (found.place !== undefined) queue.unshift(found.place)
      } catch (error) {
        if (error instanceof OperationalError) throw error
        failures.push(messageOf(error))
      }
    }
    this.#rotation++
    throw joinedError('CONTROLLER_UNREACHABLE', { tried: failures })
  }

  /** Each once: whoever told us of the leader before, then the configured ones. */
  #places(): ServerPlace[] {
    const { bootstrap, voters } = this.#options.addresses
    const all = [...this.#learned.values(), ...bootstrap, ...voters.values()]
    const first = all.length === 0 ? 0 : this.#rotation % all.length
    return [...all.slice(first), ...all.slice(0, first)]
  }

  /** Is the leader there? Otherwise what is told about it. */
  async #ask(place: ServerPlace): Promise<QuorumLeader | LeaderHint> {
    const { signal } = this.#closing
    const connection = await this.#options.open(place, signal)
    try {
      // An older epoch is answered with the present one; the second question is about that.
      for (let round = 0; ; round++) {
        const epoch = this.#epoch
        const question = askingOnly(this.#options.clusterId(), epoch)
        const answer = await fetchMetadata(connection, question, { timeoutMs: this.#options.timeoutMs, signal })
        if (answer.kind === 'refused') throw this.#refusal(place, answer.errorCode)
        if (answer.kind !== 'elsewhere') return { epoch, place, connection }
        const hint = this.#note(answer.leader)
        if (answer.errorCode === ErrorCode.FENCED_LEADER_EPOCH && this.#epoch > epoch && round < 3) continue
        connection.close()
        return hint
      }
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /** Remembers epoch and address. A hint of an older epoch leads to somebody who led once. */
  #note(hint: LeaderHint): LeaderHint {
    if (hint.epoch < this.#epoch) return { ...hint, place: undefined }
    this.#epoch = hint.epoch
    if (hint.id < 0) return { ...hint, place: undefined }
    const place = hint.place ?? this.#options.addresses.voters.get(hint.id)
    if (place) this.#learned.set(hint.id, place)
    return { ...hint, place }
  }

  #refusal(place: ServerPlace, errorCode: number): OperationalError {
    const address = placeText(place)
    if (errorCode === ErrorCode.INCONSISTENT_CLUSTER_ID)
      return joinedError('OTHER_CLUSTER', { address, clusterId: this.#options.clusterId() ?? '' })
    return joinedError('CONTROLLER_REFUSED', { address, api: 'Fetch', error: errorName(errorCode) })
  }
}
