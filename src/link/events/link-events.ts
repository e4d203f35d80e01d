/** The events of an engine: what its records tell, and what a sampler sees between them. Made by the engine. */
import type { EventSubscription, EventsApi, NumberedEvent } from '../event-api.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import type { StateChangeRecord } from '../state-records/record-codec.ts'
import { recordKinds } from '../state-records/state-key.ts'
import { lagViews } from '../views/lag-view.ts'
import { linkView } from '../views/link-view.ts'
import { shownMirror } from '../views/mirror-view.ts'
import { EventLog } from './event-log.ts'
import { EventSampler } from './event-sampler.ts'
import { stateEvents } from './state-events.ts'

export class LinkEvents implements EventsApi {
  readonly #context: OperationContext
  readonly #log: EventLog
  readonly #sampler: EventSampler
  /** What is replayed at the start happened before. */
  #started = false

  constructor(context: OperationContext) {
    const { desired, clock } = context
    this.#context = context
    this.#log = new EventLog(Math.floor(clock.nowMs()).toString(36), clock)
    this.#sampler = new EventSampler({
      events: this.#log,
      links: () => [...desired.links()].map(link => linkView(context, link)),
      mirrors: () => [...desired.mirrors()].map(record => shownMirror(context, record)),
      lags: ({ linkName, mirrorTopicName }) => {
        const link = desired.linkByName(linkName)
        const record = link && desired.mirror(link.linkId, mirrorTopicName)
        return record ? lagViews(context, record) : []
      },
      clock,
    })
  }

  start(): void {
    this.#started = true
    this.#sampler.start()
  }

  stop(): void {
    this.#sampler.stop()
  }

  subscribe(listener: (event: NumberedEvent) => void, afterId?: string): EventSubscription {
    return this.#log.subscribe(listener, afterId)
  }

  /** A record is replayed by `apply`: what that changes is told. */
  telling(change: StateChangeRecord, apply: () => void): void {
    const mirror = this.#started ? mirrorOf(change) : undefined
    const { desired, clock } = this.#context
    const current = () => mirror && desired.mirror(mirror.linkId, mirror.mirrorTopic)
    const previous = current()
    // Once the link is gone, nobody knows its name.
    const linkName = mirror && (desired.link(mirror.linkId)?.name ?? mirror.linkId)
    apply()
    if (linkName === undefined) return
    for (const event of stateEvents({ linkName, nowMs: clock.nowMs() }, previous, current())) {
      this.#log.add(event)
      this.#sampler.statusTold(linkName, event.mirrorTopicName, event.status)
    }
  }
}

function mirrorOf(change: StateChangeRecord): Pick<MirrorRecord, 'linkId' | 'mirrorTopic'> | undefined {
  if (change.kind === 'mirror') return change.record
  if (change.kind !== 'removed' || change.key.kind !== recordKinds.mirror) return undefined
  return { linkId: change.key.scope, mirrorTopic: change.key.name }
}
