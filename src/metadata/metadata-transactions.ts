/** Holds back the records of a metadata transaction (23, 24, 25; KIP-868) until it ends; fed by the replay loop. */
import { type MetadataRecord, MetadataRecordType } from '../protocol/metadata-records/registry.ts'
import { MetadataReplayError } from './replay-error.ts'

/** A transaction larger than this is not one that a controller writes. */
const OPEN_RECORDS_MAX = 10_000_000

export class MetadataTransactions {
  #open: MetadataRecord[] | undefined

  /** Is a transaction open? Nothing may be published then. */
  get isOpen(): boolean {
    return this.#open !== undefined
  }

  /** The records that became effective by this one: itself, none, or a whole transaction. */
  push(record: MetadataRecord): readonly MetadataRecord[] {
    switch (record.type) {
      case MetadataRecordType.BeginTransaction:
        if (this.#open) throw new MetadataReplayError('a metadata transaction begins inside another')
        this.#open = []
        return []
      case MetadataRecordType.EndTransaction: {
        const records = this.#open
        if (!records) throw new MetadataReplayError('a metadata transaction ends that never began')
        this.#open = undefined
        return records
      }
      case MetadataRecordType.AbortTransaction:
        if (!this.#open) throw new MetadataReplayError('a metadata transaction aborts that never began')
        this.#open = undefined
        return []
      default:
        if (!this.#open) return [record]
        if (this.#open.length >= OPEN_RECORDS_MAX)
          throw new MetadataReplayError(`a metadata transaction has more than ${OPEN_RECORDS_MAX} records`)
        this.#open.push(record)
        return []
    }
  }
}
