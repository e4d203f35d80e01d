/** Is a mirror kept from clients? Asked by everything about write fences. */
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { isOrdinaryLog } from '../states/mirror-topic-state.ts'

/** Not once it may have been released. */
export const isFenced = ({ state, stopping, restore }: MirrorRecord): boolean =>
  state !== 'STOPPED' && stopping?.handOver === undefined && restore?.givenUp === undefined

/** Is it on its way to become a mirror? Then its log is still that of an ordinary topic, wherever it is led. */
export const isBecomingMirror = ({ state }: MirrorRecord): boolean =>
  isOrdinaryLog(state) || state === 'PENDING_RESTORE'
