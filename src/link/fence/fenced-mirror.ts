/** Is a mirror kept from clients? Asked by everything about write fences. */
import type { MirrorRecord } from '../state-records/mirror-record.ts'

/** Not once it may have been released. */
export const isFenced = ({ state, stopping }: MirrorRecord): boolean =>
  state !== 'STOPPED' && stopping?.handOver === undefined
