/**
 * `__lockstep_state` of a joined cluster. Whoever leads it is the link coordinator and appends; all other nodes read it from its
 * leader and propose through `__lockstep_inbox`. Made by the composition root, subscribed to the controller.
 */
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Random } from '../../core/random.ts'
import { SerialQueue } from '../../core/serial-queue.ts'
import type { Uuid } from '../../core/uuid.ts'
import {
  NotLinkCoordinator,
  type StateLeadership,
  type StateLog,
  type StateProposal,
  type StateRecord,
} from '../../link/ports.ts'
import type { ClusterCommands } from '../../metadata/cluster-commands.ts'
import type { Controller, ImageSubscriber } from '../../metadata/controller-port.ts'
import { lockstepNode, lockstepNodes } from '../../metadata/lockstep-nodes.ts'
import type { ReplicaSet } from '../../replica/replica-set.ts'
import { LedTopic } from '../led-topic.ts'
import { ReplayedTopic } from '../replayed-topic.ts'
import { CommittedReader, type FetchConnections } from './committed-reader.ts'
import type { InboxReader } from './inbox-reader.ts'
import type { OwnTopic } from './own-topic.ts'
import { PendingProposals } from './pending-proposals.ts'
import type { InboxProposal, ProposalSignatures } from './proposal-codec.ts'
import { handOverState } from './state-hand-over.ts'
import type { TopicWriter } from './topic-writer.ts'

export interface JoinedStateTopicOptions {
  readonly brokerId: number
  readonly state: OwnTopic
  readonly inbox: {
    readonly topic: OwnTopic
    readonly writer: Pick<TopicWriter, 'append'>
    readonly reader: Pick<InboxReader, 'start' | 'stop'>
    readonly signatures: ProposalSignatures
  }
  readonly controller: Pick<Controller, 'image'> & {
    readonly cluster: Pick<ClusterCommands, 'alterPartitionReassignments' | 'electLeaders'>
  }
  readonly replicas: Pick<ReplicaSet, 'lookup' | 'storageFailed'>
  readonly connections: FetchConnections
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** How long another node may be ahead in what it has read of the state. */
const BEHIND_MS = 8000

/** So long a request of a coordinator that has just been deposed may take to arrive. */
const LATE_REQUESTS_MS = 10_000

export class JoinedStateTopic implements StateLog, ImageSubscriber {
  readonly name = 'link state'
  readonly leadership: StateLeadership
  readonly #o: JoinedStateTopicOptions
  readonly #queue = new SerialQueue()
  readonly #replayed: ReplayedTopic
  readonly #proposals: PendingProposals
  readonly #listeners = new Set<() => void>()
  /** Where each key was written last, for proposals. */
  readonly #written = new Map<string, number>()
  #onProposal: ((proposal: StateProposal) => Promise<void>) | undefined
  #led: LedTopic | undefined
  #reader: CommittedReader | undefined
  #seen = ''
  #isOpen = false
  #closed = false

  constructor(options: JoinedStateTopicOptions) {
    this.#o = options
    this.#replayed = new ReplayedTopic(options.state.name)
    const vacancy = () => this.#vacancy()
    const term = () => this.#term()
    const position = () => this.#replayed.offset
    const { clock } = options
    this.#proposals = new PendingProposals({
      sender: options.brokerId,
      inbox: options.inbox.writer,
      signatures: options.inbox.signatures,
      vacancy,
      clock: options.clock,
    })
    this.leadership = {
      get term() {
        return term()
      },
      get vacancy() {
        return vacancy()
      },
      onChanged: listener => {
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
      },
      lateRequestsMs: LATE_REQUESTS_MS,
      get position() {
        return position()
      },
      reached: offset => this.#replayed.reached(offset, { clock, timeoutMs: BEHIND_MS }),
      handOver: () => handOverState(options),
    }
  }

  /** Creates the topics if they are not there. */
  open(onRecords: (records: readonly StateRecord[]) => void): Promise<void> {
    return this.#queue.run(async () => {
      this.#replayed.onRecords = (records, offset) => {
        for (const { key } of records) this.#written.set(key.toString('latin1'), offset)
        onRecords(records)
        this.#proposals.replayed(records, offset)
      }
      await this.#o.state.ensure()
      await this.#o.inbox.topic.ensure()
      await this.#follow()
      if (this.#led) await this.#led.replay()
      else await this.#reader?.caughtUp()
      this.#isOpen = true
    })
  }

  append(records: readonly StateRecord[]): Promise<void> {
    return this.#queue.run(async () => {
      await this.#follow()
      if (!this.#led || this.#closed) throw new NotLinkCoordinator(this.#vacancy() ?? 'another node is the coordinator')
      await this.#led.append(records)
    })
  }

  propose(records: readonly StateRecord[]): Promise<void> {
    return this.#proposals.propose(records, this.#replayed.offset)
  }

  onProposal(listener: (proposal: StateProposal) => Promise<void>): void {
    this.#onProposal = listener
  }

  /** The image is another one: who leads may have changed. Does not wait for what follows from it. */
  onImage(): void {
    const { state } = this.#o
    const seen = `${state.leader} ${state.partition?.leaderEpoch} ${this.#vacancy()}`
    if (seen === this.#seen || this.#closed) return
    this.#seen = seen
    if (this.#term() !== undefined) this.#proposals.giveUp('this node has become the link coordinator')
    for (const listener of this.#listeners) listener()
    if (!this.#isOpen) return
    this.#queue
      .run(() => this.#follow())
      .catch(error => this.#o.logger.warn('the link state is not followed yet', { error: messageOf(error) }))
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#proposals.giveUp('this node is stopping')
    await this.#reader?.stop()
    await this.#o.inbox.reader.stop()
    await this.#queue.idle()
  }

  #term(): number | undefined {
    const { partition } = this.#o.state
    return partition?.leader === this.#o.brokerId ? partition.leaderEpoch : undefined
  }

  #vacancy(): string | undefined {
    const { state, controller } = this.#o
    if (!state.topic) return `${state.name} does not exist yet`
    if (state.leader < 0) return `${state.name} has no leader now`
    if (lockstepNode(controller.image, state.leader)) return undefined
    const nodes = lockstepNodes(controller.image).filter(({ isActive }) => isActive).length
    return `${state.name} is led by broker ${state.leader}, which is no Lockstep node (${nodes} of those are alive)`
  }

  /** Reads where the present leader is: here, or over the network. */
  async #follow(): Promise<void> {
    const { state, replicas, clock, inbox } = this.#o
    const term = this.#term()
    if (this.#closed || (this.#led && this.#led.leaderEpoch === term)) return
    this.#led = undefined
    if (term === undefined) {
      await inbox.reader.stop()
      this.#reader ??= this.#newReader()
      this.#reader.start()
      return
    }
    await this.#reader?.stop()
    this.#reader = undefined
    const partition = replicas.lookup(state.topic?.id as Uuid, 0)
    this.#led = new LedTopic({ replayed: this.#replayed, partition, replicas, clock })
    inbox.reader.start(proposal => this.#proposed(proposal))
  }

  #newReader(): CommittedReader {
    const { state } = this.#o
    return new CommittedReader({
      ...this.#o,
      topic: state,
      position: () => this.#replayed.offset,
      onBatches: bytes => this.#replayed.deliver(bytes),
      onGone: logStartOffset => this.#replayed.skipTo(logStartOffset),
    })
  }

  async #proposed({ sender, decidedAt, records }: InboxProposal): Promise<void> {
    const { controller, brokerId } = this.#o
    const node = lockstepNode(controller.image, sender)
    if (!node?.isActive || sender === brokerId || this.#term() === undefined) return
    await this.#onProposal?.({
      sender: `node ${sender}`,
      records,
      isCurrent: () => records.every(({ key }) => (this.#written.get(key.toString('latin1')) ?? -1) < decidedAt),
      leads: (topicId, partition) => controller.image.topics.get(topicId)?.partitions[partition]?.leader === sender,
    })
  }
}
