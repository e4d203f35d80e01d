/** Are topics of a source mirrors themselves? Asked by the evaluation of topics: loops, and links with a prefix. */
import type { SourceTopic } from '../ports.ts'

/** What the source's own publication says about one of its topics. */
export type TopicOrigin =
  | { readonly kind: 'ordinary' }
  | {
      readonly kind: 'mirror'
      /** Of what it is one, for people: `topic 'orders' of cluster X through link 'east'`. */
      readonly of: string
      /** The chain of its sources comes back to the topic that is to become its mirror. */
      readonly isLoop: boolean
    }
  /** Nobody can tell; the reason is a clause. `publishesNothing`: the source has no publication, so it is no Lockstep of today. */
  | { readonly kind: 'unknown'; readonly reason: string; readonly publishesNothing?: boolean }

/** Of a topic that the source has; `mirrorTopic`: the name that its mirror here would have. */
export type TopicOrigins = (topic: SourceTopic, mirrorTopic: string) => TopicOrigin
