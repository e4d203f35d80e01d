/** What happens to links and mirrors, as it happens, for whoever listens; part of the engine's API, sent on by REST. */
import type { LinkState, MirrorStatus, TaskView } from './engine-words.ts'

interface Common {
  /** Wall clock. */
  readonly timeMs: number
  readonly linkName: string
}

/** A mirror entered a state, its shown status changed, or something happened to it that changed neither. */
export interface StateEvent extends Common {
  readonly type: 'state'
  readonly mirrorTopicName: string
  /** null = it is no mirror any more. */
  readonly status: MirrorStatus | null
  /** null = it was none before. */
  readonly previousStatus: MirrorStatus | null
  /** As in the history; null where only the shown status changed. */
  readonly event: string | null
  readonly reason: string | null
}

/** A sync task changed its state or its errors. */
export interface TaskEvent extends Common {
  readonly type: 'task'
  readonly task: TaskView
}

export interface LinkEvent extends Common {
  readonly type: 'link'
  /** null = the link is gone. */
  readonly state: LinkState | null
  readonly error: string | null
  readonly errorMessage: string | null
}

/** A sample; null = not known. */
export interface LagEvent extends Common {
  readonly type: 'lag'
  readonly lagMax: number | null
  readonly lagMsMax: number | null
  /** As in LinkView. */
  readonly mirroredBytes: number
  /** Of mirrors that are not stopped. */
  readonly topics: readonly {
    readonly mirrorTopicName: string
    readonly lagMax: number | null
    readonly lagTotal: number | null
    readonly lagMs: number | null
  }[]
}

export type LinkEngineEvent = StateEvent | TaskEvent | LinkEvent | LagEvent

/** Samples have no id: they cannot be asked for again, and are of no use later. */
export interface NumberedEvent {
  readonly id: string | undefined
  readonly event: LinkEngineEvent
}

export interface EventSubscription {
  /** Wall clock of its beginning. */
  readonly timeMs: number
  /** Events behind `afterId` are not known here any more, or never were. */
  readonly missed: boolean
  /** What has happened since `afterId`. */
  readonly events: readonly NumberedEvent[]
  close(): void
}

/** Given as `afterId`: everything that is kept. */
export const everythingKept = '*'

export interface EventsApi {
  /** `listener` is called for every event from now on; it must not throw. */
  subscribe(listener: (event: NumberedEvent) => void, afterId?: string): EventSubscription
}
