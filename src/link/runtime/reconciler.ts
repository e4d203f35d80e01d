/** Drives what is to what the records say, again and again: after every change of state, of topics and of link health. */

import { Backoff } from '../../core/backoff.ts'
import type { Timer } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Uuid } from '../../core/uuid.ts'
import { mirrorQueue } from '../coordination/mirror-queue.ts'
import { isReturning } from '../fence/fenced-mirror.ts'
import { continueRestore, isRestoring } from '../operations/continue-restore.ts'
import { finishMirrorCreation } from '../operations/create-mirror.ts'
import { finishLinkDeletion } from '../operations/delete-link.ts'
import { continueStop } from '../operations/failover-mirror.ts'
import { forgetDeletedTopics } from '../operations/forget-deleted-topics.ts'
import { linkQueue, type OperationContext, topicNameQueue } from '../operations/operation-context.ts'
import { finishGivingBack } from '../reversal/return-source.ts'
import { LinkRuntime } from './link-runtime.ts'

export class Reconciler {
  readonly #context: OperationContext
  readonly #runtimes = new Map<Uuid, LinkRuntime>()
  readonly #backoff: Backoff
  /** Unfinished operations that are being continued, by their queue. */
  readonly #continuing = new Map<string, Promise<void>>()
  #running: Promise<void> | undefined
  #again = false
  #retry: Timer | undefined
  #stopped = false

  constructor(context: OperationContext) {
    this.#context = context
    this.#backoff = new Backoff({ initialMs: 200, maxMs: 10_000, random: context.random })
  }

  runtime(linkId: Uuid): LinkRuntime | undefined {
    return this.#runtimes.get(linkId)
  }

  /** Something may have changed. Resolves after a whole round that began after this call. */
  async run(): Promise<void> {
    if (this.#stopped) return
    if (this.#running) {
      this.#again = true
      await this.#running
      return
    }
    this.#running = this.#rounds()
    await this.#running
  }

  /** Ends retries, then stops all links and waits for them. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#retry?.cancel()
    await this.#running
    await Promise.all([...this.#runtimes.values()].map(runtime => runtime.close()))
    await Promise.all(this.#continuing.values())
    this.#runtimes.clear()
  }

  async #rounds(): Promise<void> {
    do {
      this.#again = false
      try {
        await this.#round()
      } catch (error) {
        this.#failed('the links could not be reconciled', error)
      }
    } while (this.#again && !this.#stopped)
    this.#running = undefined
  }

  async #round(): Promise<void> {
    const { desired, journal, logger } = this.#context
    // What follows must not wait for the state topic: it may be what ends the fetching of a wrong source.
    await journal.certain().catch(error => this.#failed('what is decided is not known', error))
    for (const [linkId, runtime] of this.#runtimes) {
      if (desired.link(linkId) && desired.problemOf(linkId) === undefined) continue
      this.#runtimes.delete(linkId)
      await runtime.close()
    }
    const coordinates = this.#context.coordinates()
    if (coordinates)
      await forgetDeletedTopics(this.#context).catch(error => this.#failed('deleted topics are not forgotten', error))
    for (const link of desired.links()) {
      const problem = desired.problemOf(link.linkId)
      if (problem !== undefined) {
        logger.error('a link is stopped', { link: link.name, problem })
        continue
      }
      await this.#runtimeOf(link.linkId)?.apply(link, desired.mirrorsOf(link.linkId))
    }
    if (coordinates) this.#continueUnfinished()
  }

  #runtimeOf(linkId: Uuid): LinkRuntime | undefined {
    const known = this.#runtimes.get(linkId)
    const link = this.#context.desired.link(linkId)
    if (known || !link) return known
    const runtime = new LinkRuntime(link, this.#context, () => void this.run())
    this.#runtimes.set(linkId, runtime)
    return runtime
  }

  /** What a crash or a failure left half done, driven to its end beside the rounds. */
  #continueUnfinished(): void {
    const { desired } = this.#context
    for (const creation of desired.creations()) {
      const { linkId, mirrorTopic } = creation
      if (desired.problemOf(linkId) !== undefined) continue
      this.#continue(topicNameQueue(mirrorTopic), () => finishMirrorCreation(this.#context, creation))
    }
    for (const { linkId, mirrorTopic, topicId, stopping } of desired.mirrors()) {
      if (stopping === undefined || desired.problemOf(linkId) !== undefined) continue
      const id = { linkId, mirrorTopic, topicId }
      this.#continue(mirrorQueue(id), async () => {
        const record = desired.mirror(linkId, mirrorTopic)
        if (record?.topicId === topicId && record.stopping !== undefined) await continueStop(this.#context, id)
      })
    }
    for (const record of desired.mirrors()) {
      const { linkId, mirrorTopic, topicId } = record
      if ((!isRestoring(record) && !isReturning(record)) || desired.problemOf(linkId) !== undefined) continue
      const id = { linkId, mirrorTopic, topicId }
      this.#continue(`restore of ${mirrorQueue(id)}`, () =>
        this.#context.operations.run(mirrorQueue(id), async () => {
          await continueRestore(this.#context, id)
          await finishGivingBack(this.#context, id)
        }),
      )
    }
    for (const { linkId, deletingSinceMs } of desired.links()) {
      if (deletingSinceMs === undefined || desired.problemOf(linkId) !== undefined) continue
      this.#continue(`deletion of ${linkQueue(linkId)}`, () => finishLinkDeletion(this.#context, linkId))
    }
  }

  /** One attempt at a time per thing, behind whoever is at it for somebody; every job looks first what is left to do. */
  #continue(queue: string, job: () => Promise<unknown>): void {
    const { operations } = this.#context
    if (this.#continuing.has(queue) || this.#stopped) return
    const attempt = operations
      .run(queue, job)
      .then(
        () => this.#backoff.reset(),
        error => this.#failed(`an unfinished operation (${queue}) will be tried again`, error),
      )
      .finally(() => this.#continuing.delete(queue))
    this.#continuing.set(queue, attempt)
  }

  #failed(what: string, error: unknown): void {
    this.#context.logger.warn(what, { error: messageOf(error) })
    this.retry()
  }

  /** Another round after the backoff. */
  retry(): void {
    const { clock } = this.#context
    if (this.#stopped) return
    this.#retry?.cancel()
    this.#retry = clock.after(this.#backoff.nextMs(), () => void this.run())
  }
}
