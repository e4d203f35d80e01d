/** Sends commands to the active controller and asks again where that is safe; the joined Controller, the registration and the checks before joining use it. */
import type { Backoff } from '../../core/backoff.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf, OperationalError } from '../../core/errors.ts'
import type { CallableApi } from '../../network/broker-connection.ts'
import { ConnectionError } from '../../network/connection-error.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { VersionRange } from '../../protocol/schema/version-range.ts'
import type { ActiveController, QuorumLeader } from './active-controller.ts'
import { joinedError } from './joined-errors.ts'

export interface QuestionOptions<R> {
  /** All error codes in an answer: NOT_CONTROLLER among them means that somebody else has to be asked. */
  readonly codes: (response: R) => readonly number[]
  /** Twice does no harm. Otherwise a lost answer is told as ANSWER_LOST, since nobody knows what was done. */
  readonly repeatable: boolean
  /** What the request itself allows the controller to take, ms. */
  readonly waitMs?: number
}

export interface ControllerQuestionsOptions {
  readonly active: ActiveController
  readonly clock: Clock
  readonly backoff: () => Backoff
  /** For all attempts of a question together. */
  readonly giveUpMs: number
  /** For one answer. */
  readonly timeoutMs: number
}

export class ControllerQuestions {
  readonly #options: ControllerQuestionsOptions
  readonly #closing = new AbortController()

  constructor(options: ControllerQuestionsOptions) {
    this.#options = options
  }

  /**
   * The answer of whoever is the active controller, and the epoch in which it is that. Rejects with CONTROLLER_UNREACHABLE,
   * ANSWER_LOST, OTHER_CLUSTER, CONTROLLER_REFUSED, CONTROLLER_CLOSED, or with a ConnectionError of kind unsupported-version.
   */
  async ask<Q, R>(
    api: CallableApi<Q, R>,
    request: Q | ((version: number) => Q),
    options: QuestionOptions<R>,
  ): Promise<{ response: R; epoch: number }> {
    const { clock, giveUpMs } = this.#options
    const deadline = clock.monotonicMs() + giveUpMs
    const backoff = this.#options.backoff()
    for (;;) {
      this.#refuseIfClosed()
      const answer = await this.#attempt(api, request, options)
      if (!(answer instanceof Error)) return answer
      const delay = backoff.nextMs()
      if (clock.monotonicMs() + delay > deadline) throw answer
      await sleep(clock, delay, this.#closing.signal)
    }
  }

  /** Is there an active controller that lets us read the metadata? One attempt; rejects as `ActiveController.leader`. */
  async reach(): Promise<void> {
    await this.#options.active.leader()
  }

  /** As `ActiveController.servedVersions`. */
  servedVersions(apiKey: number): VersionRange | undefined {
    return this.#options.active.servedVersions(apiKey)
  }

  close(): void {
    this.#closing.abort()
    this.#options.active.close()
  }

  /** An error that is returned may be tried again, one that is thrown must not. */
  async #attempt<Q, R>(
    api: CallableApi<Q, R>,
    request: Q | ((version: number) => Q),
    { codes, repeatable, waitMs = 0 }: QuestionOptions<R>,
  ): Promise<{ response: R; epoch: number } | OperationalError> {
    const { active, timeoutMs } = this.#options
    let leader: QuorumLeader
    try {
      leader = await active.leader()
    } catch (error) {
      this.#refuseIfClosed()
      if (error instanceof OperationalError && error.retriable) return error
      throw error
    }
    const version = leader.connection.versionFor(api.request.apiKey)
    const value =
      typeof request === 'function' && version !== undefined ? (request as (v: number) => Q)(version) : request
    try {
      const { response } = await leader.connection.send(api, value as Q, { timeoutMs: timeoutMs + waitMs })
      if (!codes(response).includes(ErrorCode.NOT_CONTROLLER)) return { response, epoch: leader.epoch }
      active.lost(leader)
      return joinedError('CONTROLLER_UNREACHABLE', { tried: ['the controller that was asked is not the active one'] })
    } catch (error) {
      if (error instanceof ConnectionError && error.kind === 'unsupported-version') throw error
      active.lost(leader)
      this.#refuseIfClosed()
      const lost = joinedError('ANSWER_LOST', { api: api.request.name, reason: messageOf(error) }, error)
      if (!repeatable) throw lost
      return lost
    }
  }

  #refuseIfClosed(): void {
    if (this.#closing.signal.aborted) throw joinedError('CONTROLLER_CLOSED', undefined)
  }
}
