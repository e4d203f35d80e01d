/** The timers of the members of consumer groups; ConsumerMembership owns one per shard. */
import type { Clock } from '../../core/clock.ts'
import { DeadlineTimer } from '../groups/deadline-timer.ts'

/**
 * session: to be heard of. revocation: to say that partitions are given up. join and sync: for members of the classic protocol, to
 * join again, and to ask for their assignment.
 */
export type MemberTimerKind = 'session' | 'revocation' | 'join' | 'sync'

export interface MemberTimer {
  readonly kind: MemberTimerKind
  readonly groupId: string
  readonly memberId: string
}

export class MemberTimers {
  readonly #clock: Clock
  readonly #expired: (timer: MemberTimer) => void
  /** By group, then by kind and member. */
  readonly #timers = new Map<string, Map<string, DeadlineTimer>>()
  #closed = false

  constructor(clock: Clock, expired: (timer: MemberTimer) => void) {
    this.#clock = clock
    this.#expired = expired
  }

  start(timer: MemberTimer, delayMs: number): void {
    if (this.#closed) return
    const timers = this.#timers.get(timer.groupId) ?? new Map<string, DeadlineTimer>()
    this.#timers.set(timer.groupId, timers)
    const key = keyOf(timer)
    const running =
      timers.get(key) ??
      new DeadlineTimer(this.#clock, () => {
        this.cancel(timer)
        this.#expired(timer)
      })
    timers.set(key, running)
    running.restart(delayMs)
  }

  /** Keeps the deadline of one that runs. */
  startOnce(timer: MemberTimer, delayMs: number): void {
    if (!this.#timers.get(timer.groupId)?.has(keyOf(timer))) this.start(timer, delayMs)
  }

  cancel(timer: MemberTimer): void {
    const timers = this.#timers.get(timer.groupId)
    timers?.get(keyOf(timer))?.cancel()
    timers?.delete(keyOf(timer))
    if (timers?.size === 0) this.#timers.delete(timer.groupId)
  }

  cancelMember(groupId: string, memberId: string): void {
    for (const kind of ['session', 'revocation', 'join', 'sync'] as const) this.cancel({ kind, groupId, memberId })
  }

  cancelGroup(groupId: string): void {
    for (const timer of this.#timers.get(groupId)?.values() ?? []) timer.cancel()
    this.#timers.delete(groupId)
  }

  /** No timer starts from now on: who waited for a write may still come back. */
  close(): void {
    this.#closed = true
    for (const groupId of [...this.#timers.keys()]) this.cancelGroup(groupId)
  }
}

const keyOf = ({ kind, memberId }: MemberTimer): string => `${kind} ${memberId}`
