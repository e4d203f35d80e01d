// The sizes of rehearsals: what CI has time for, and what `npm run rehearse` does; used by the suite and the script.
import type { Size } from './plan.ts'

export const BOUNDED: Size = { topics: 50, groups: 30, acls: 40, seconds: 6, burst: 10, largeBytes: 1_000_000 }

export const LARGER: Size = { topics: 100, groups: 60, acls: 80, seconds: 60, burst: 40, largeBytes: 5_000_000 }
