/** The share coordinator as this node's share groups and share partitions use it: creates the topic and waits while the state is being loaded. */
import { Backoff } from '../../core/backoff.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { systemRandom } from '../../core/random.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { ShareCoordinator } from './share-coordinator.ts'
import type {
  ShareKey,
  SharePartitionState,
  SharePartitionSummary,
  SharePersister,
  ShareWrite,
} from './share-persister.ts'

const FIRST_RETRY_MS = 20
const RETRY_MS_MAX = 1000
/** About five seconds, then whoever asked is told why not. */
const ATTEMPTS = 10

const passing: readonly number[] = [
  ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
  ErrorCode.COORDINATOR_NOT_AVAILABLE,
  ErrorCode.NOT_COORDINATOR,
]

export class LocalSharePersister implements SharePersister {
  readonly #coordinator: ShareCoordinator
  readonly #clock: Clock

  constructor({ coordinator, clock }: { readonly coordinator: ShareCoordinator; readonly clock: Clock }) {
    this.#coordinator = coordinator
    this.#clock = clock
  }

  initialize(key: ShareKey, state: { readonly stateEpoch: number; readonly startOffset: number }): Promise<void> {
    return this.#untilServed(() => this.#coordinator.initialize(key, state))
  }

  read(key: ShareKey, leaderEpoch: number): Promise<SharePartitionState> {
    return this.#untilServed(() => this.#coordinator.read(key, leaderEpoch))
  }

  write(key: ShareKey, change: ShareWrite): Promise<void> {
    return this.#untilServed(() => this.#coordinator.write(key, change))
  }

  delete(key: ShareKey): Promise<void> {
    return this.#untilServed(() => this.#coordinator.delete(key))
  }

  readSummary(key: ShareKey): Promise<SharePartitionSummary> {
    return this.#untilServed(() => this.#coordinator.readSummary(key))
  }

  /** A change may be made twice, where the first time its end was not known; that makes no difference to the state. */
  async #untilServed<T>(ask: () => Promise<T>): Promise<T> {
    const backoff = new Backoff({ initialMs: FIRST_RETRY_MS, maxMs: RETRY_MS_MAX, random: systemRandom })
    for (;;) {
      try {
        await this.#coordinator.partitions.ensureTopic()
        return await ask()
      } catch (error) {
        const mayPass = error instanceof CoordinatorError && passing.includes(error.errorCode)
        if (!mayPass || backoff.attempts >= ATTEMPTS) throw error
      }
      await sleep(this.#clock, backoff.nextMs())
    }
  }
}
