/**
 * Sends consumers to in-sync Java brokers (KIP-392), so that a Lockstep node replicates and does not serve. Whoever comes back at
 * once does not follow, or could not: it is served here for a while. Made by node/ for a joined broker.
 */
import type { Clock } from '../../core/clock.ts'
import { isActiveBroker, isLockstepNode } from '../../metadata/lockstep-nodes.ts'
import type { BrokerImage } from '../../metadata/metadata-image.ts'
import type { ClientContext } from '../../network/request-handler.ts'
import { addressOf } from '../endpoints.ts'
import type { ConsumerRead, ReadRedirect } from '../read-redirect.ts'

/** A client that follows stays away for its `metadata.max.age.ms`, minutes. */
const ASKED_AGAIN_MS = 5000
/** For which a client that does not follow is served, before it is sent away once more: one empty answer. */
const SERVED_MS = 60_000

interface Asked {
  redirectedAtMs: number
  servedUntilMs: number
}

export class ReplicaRedirect implements ReadRedirect {
  readonly #clock: Clock
  /** By connection, then by partition. */
  readonly #asked = new WeakMap<ClientContext, Map<string, Asked>>()

  #redirected = 0
  #served = 0

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock
  }

  replicaFor(read: ConsumerRead): number | undefined {
    const chosen = chosenOf(readableReplicas(read), read)
    if (!chosen || !this.#follows(read)) {
      this.#served++
      return undefined
    }
    this.#redirected++
    return chosen.id
  }

  /** Since the start: how often a consumer was sent away from a partition, and how often one was to be served here. */
  get figures(): { readonly redirected: number; readonly served: number } {
    return { redirected: this.#redirected, served: this.#served }
  }

  /** Is the client to be sent away? Remembers that it was. */
  #follows({ client, topic, partition }: ConsumerRead): boolean {
    const now = this.#clock.monotonicMs()
    const ofClient = this.#asked.get(client) ?? new Map<string, Asked>()
    this.#asked.set(client, ofClient)
    const key = `${topic.id}:${partition}`
    const asked = ofClient.get(key)
    if (asked && now < asked.servedUntilMs) return false
    if (asked && now - asked.redirectedAtMs < ASKED_AGAIN_MS) {
      asked.servedUntilMs = now + SERVED_MS
      return false
    }
    ofClient.set(key, { redirectedAtMs: now, servedUntilMs: Number.NEGATIVE_INFINITY })
    return true
  }
}

/** In the order of the replicas: members of the ISR have everything below the high watermark. */
const readableReplicas = ({ image, topic, partition, client }: ConsumerRead): BrokerImage[] =>
  (topic.partitions[partition]?.isr ?? []).flatMap(id => {
    const broker = image.brokers.get(id)
    if (!broker || !isActiveBroker(broker) || isLockstepNode(image, id)) return []
    return addressOf(broker, client.listener) ? [broker] : []
  })

/** One of the client's rack if there is one. Partitions are spread over the brokers, and each client of a partition is sent to the same one. */
function chosenOf(replicas: readonly BrokerImage[], { rack, topic, partition }: ConsumerRead): BrokerImage | undefined {
  const near = rack === '' ? [] : replicas.filter(broker => broker.rack === rack)
  const from = near.length > 0 ? near : replicas
  const place = [...topic.id].reduce((sum, letter) => sum + letter.charCodeAt(0), partition)
  return from[place % from.length]
}
