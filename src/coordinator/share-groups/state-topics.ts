/** For which partitions a share group has state at the share coordinator, and how that changes; ShareGroup holds it, heartbeats and offset operations change it. */
import type { Uuid } from '../../core/uuid.ts'

/** Some partitions of a topic. */
export interface TopicState {
  /** As the topic was called then. */
  readonly name: string
  readonly partitions: ReadonlySet<number>
}

export interface InitialisingTopic extends TopicState {
  /** When the share coordinator was asked last; undefined = before this process was the group's coordinator. Not stored. */
  readonly sinceMs: number | undefined
}

/** A topic is in `deleting` as a whole. Topics without partitions are absent. */
export interface StateTopics {
  readonly initialising: ReadonlyMap<Uuid, InitialisingTopic>
  readonly initialised: ReadonlyMap<Uuid, TopicState>
  /** With their names. */
  readonly deleting: ReadonlyMap<Uuid, string>
}

export const NO_STATE: StateTopics = { initialising: new Map(), initialised: new Map(), deleting: new Map() }

/** The share coordinator is asked for state of these partitions. What was about to be deleted is wanted again. */
export function begun(state: StateTopics, topics: ReadonlyMap<Uuid, TopicState>, sinceMs: number): StateTopics {
  const initialising = new Map(state.initialising)
  const deleting = new Map(state.deleting)
  for (const [topicId, { name, partitions }] of topics) {
    const before = initialising.get(topicId)?.partitions ?? []
    initialising.set(topicId, { name, partitions: new Set([...before, ...partitions]), sinceMs })
    deleting.delete(topicId)
  }
  return { ...state, initialising, deleting }
}

/** The share coordinator has state of these partitions. */
export function completed(state: StateTopics, topics: ReadonlyMap<Uuid, TopicState>): StateTopics {
  const initialised = new Map(state.initialised)
  for (const [topicId, { name, partitions }] of topics) {
    const before = initialised.get(topicId)?.partitions ?? []
    initialised.set(topicId, { name, partitions: new Set([...before, ...partitions]) })
  }
  return { ...abandoned(state, topics), initialised }
}

/** These partitions are not initialised any more: it is done, or was given up. */
export function abandoned(state: StateTopics, topics: ReadonlyMap<Uuid, Pick<TopicState, 'partitions'>>): StateTopics {
  const initialising = new Map(state.initialising)
  for (const [topicId, { partitions }] of topics) {
    const before = initialising.get(topicId)
    if (!before) continue
    const left = new Set([...before.partitions].filter(partition => !partitions.has(partition)))
    if (left.size === 0) initialising.delete(topicId)
    else initialising.set(topicId, { ...before, partitions: left })
  }
  return { ...state, initialising }
}

/** The share coordinator is asked to forget these topics. */
export function doomed(state: StateTopics, topics: ReadonlyMap<Uuid, string>): StateTopics {
  const { initialising, initialised } = forgotten(state, topics.keys())
  return { initialising, initialised, deleting: new Map([...state.deleting, ...topics]) }
}

/** Nothing is left of these topics. */
export function forgotten(state: StateTopics, topicIds: Iterable<Uuid>): StateTopics {
  const ids = new Set(topicIds)
  const without = <V>(topics: ReadonlyMap<Uuid, V>) => new Map([...topics].filter(([topicId]) => !ids.has(topicId)))
  return {
    initialising: without(state.initialising),
    initialised: without(state.initialised),
    deleting: without(state.deleting),
  }
}

/** Has the group state of any of these topics, or is it about to? */
export const concerns = (state: StateTopics, topicIds: Iterable<Uuid>): boolean =>
  [...topicIds].some(id => state.initialising.has(id) || state.initialised.has(id) || state.deleting.has(id))
