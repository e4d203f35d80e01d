/** One of Lockstep's own topics that is written by the link coordinator without being led by it: read and produced to over the network. `__lockstep_status` of a joined cluster. */
import type { StateLog, StateRecord } from '../../link/ports.ts'
import { ReplayedTopic } from '../replayed-topic.ts'
import { CommittedReader, type CommittedReaderOptions } from './committed-reader.ts'
import type { TopicWriter } from './topic-writer.ts'

export interface NetworkTopicLogOptions
  extends Pick<CommittedReaderOptions, 'topic' | 'connections' | 'clock' | 'random' | 'logger'> {
  readonly writer: Pick<TopicWriter, 'append'>
}

/** Nothing is compared before an append: what is published is derived, and compared by its publisher again and again. */
export class NetworkTopicLog implements StateLog {
  readonly #o: NetworkTopicLogOptions
  readonly #replayed: ReplayedTopic
  #reader: CommittedReader | undefined

  constructor(options: NetworkTopicLogOptions) {
    this.#o = options
    this.#replayed = new ReplayedTopic(options.topic.name)
  }

  async open(onRecords: (records: readonly StateRecord[]) => void): Promise<void> {
    const replayed = this.#replayed
    replayed.onRecords = records => onRecords(records)
    await this.#o.topic.ensure()
    this.#reader ??= new CommittedReader({
      ...this.#o,
      position: () => replayed.offset,
      onBatches: bytes => replayed.deliver(bytes),
      onGone: logStartOffset => replayed.skipTo(logStartOffset),
    })
    this.#reader.start()
    await this.#reader.caughtUp()
  }

  async append(records: readonly StateRecord[]): Promise<void> {
    await this.#o.writer.append(records)
    await this.#reader?.caughtUp()
  }

  async close(): Promise<void> {
    await this.#reader?.stop()
  }
}
