/** The verifications of this node: begun, listed, cancelled; those that ended are kept for a while. Made by the engine. */
import { ByteBudget } from '../../core/byte-budget.ts'
import { randomUuid, type Uuid } from '../../core/uuid.ts'
import { linkError } from '../errors.ts'
import { selectedTopics } from '../operations/alter-mirrors.ts'
import { type OperationContext, requireLink } from '../operations/operation-context.ts'
import type { VerificationsApi, VerificationView, VerifyRequest } from '../verification-api.ts'
import { Verification } from './verification.ts'

/** Verifications that run at the same time. */
const runningMax = 8
/** Verifications that are kept after their end. */
const endedMax = 20
/** Partitions that are compared at the same time, over all verifications: each holds two chunks in memory. */
const partitionsMax = 4

export class Verifications implements VerificationsApi {
  readonly #context: OperationContext
  readonly #slots = new ByteBudget(partitionsMax)
  /** In the order in which they began. */
  readonly #all = new Map<string, Verification>()

  constructor(context: OperationContext) {
    this.#context = context
  }

  /** Returns at once. Throws LINK_NOT_FOUND, MIRROR_NOT_FOUND, PATTERN_INVALID or VERIFICATIONS_BUSY. */
  begin(link: string, request: VerifyRequest): VerificationView {
    const record = requireLink(this.#context, link)
    const topics = selectedTopics(this.#context, record, request)
    if ([...this.#all.values()].filter(({ isRunning }) => isRunning).length >= runningMax)
      throw linkError('VERIFICATIONS_BUSY', { max: runningMax })
    const verification = new Verification({
      id: randomUuid(),
      linkId: record.linkId,
      linkName: link,
      ...{ topics, request, slots: this.#slots, context: this.#context },
    })
    this.#all.set(verification.id, verification)
    this.#forgetOld()
    return verification.view()
  }

  /** The newest first. */
  list(link: string): VerificationView[] {
    const { linkId } = requireLink(this.#context, link)
    return [...this.#all.values()]
      .filter(verification => verification.linkId === linkId)
      .map(verification => verification.view())
      .reverse()
  }

  describe(link: string, id: string): VerificationView {
    return this.#find(requireLink(this.#context, link).linkId, id).view()
  }

  /** Resolves when it has ended. */
  async ended(link: string, id: string): Promise<void> {
    await this.#find(requireLink(this.#context, link).linkId, id).ended
  }

  /** Resolves when nothing of it runs any more; does nothing to one that has ended. */
  async cancel(link: string, id: string): Promise<VerificationView> {
    const verification = this.#find(requireLink(this.#context, link).linkId, id)
    if (verification.isRunning) verification.cancel()
    await verification.ended
    return verification.view()
  }

  /** Cancels all and waits for them. */
  async stop(): Promise<void> {
    const running = [...this.#all.values()].filter(({ isRunning }) => isRunning)
    for (const verification of running) verification.cancel()
    await Promise.all(running.map(({ ended }) => ended))
  }

  #find(linkId: Uuid, id: string): Verification {
    const found = this.#all.get(id)
    if (found?.linkId !== linkId) throw linkError('VERIFICATION_NOT_FOUND', { id })
    return found
  }

  #forgetOld(): void {
    const ended = [...this.#all.values()].filter(({ isRunning }) => !isRunning)
    for (const { id } of ended.slice(0, Math.max(0, ended.length - endedMax))) this.#all.delete(id)
  }
}
