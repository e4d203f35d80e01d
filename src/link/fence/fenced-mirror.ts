/** Is a mirror kept from clients? Asked by everything about write fences. */
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { isOrdinaryLog } from '../states/mirror-topic-state.ts'

/** Not once it may have been released, and not while clients are to go on writing it. */
export const isFenced = (record: MirrorRecord): boolean =>
  record.state !== 'STOPPED' &&
  record.stopping?.handOver === undefined &&
  record.restore?.givenUp === undefined &&
  !isReturning(record) &&
  !admitsWriters(record)

/** The source of a reverse that others lead, and clients write: a copy of it is being made here. */
export const admitsWriters = ({ state, reversal }: MirrorRecord): boolean =>
  isOrdinaryLog(state) && reversal?.writers === 'admitted'

/** The source of a reverse that is being given back to those who had it. */
export const isReturning = ({ state, reversal }: MirrorRecord): boolean =>
  isOrdinaryLog(state) && reversal?.givenUp !== undefined

/** Is it on its way to become a mirror? Then its log is still that of an ordinary topic, wherever it is led. */
export const isBecomingMirror = ({ state }: MirrorRecord): boolean =>
  isOrdinaryLog(state) || state === 'PENDING_RESTORE'
