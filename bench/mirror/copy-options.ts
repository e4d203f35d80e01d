/** Options and their lists of numbers, of the benchmarks that copy topics; read by bench:mirror and bench:join. */

/** For parseArgs. */
export const copyOptions = {
  quick: { type: 'boolean', default: false },
  partitions: { type: 'string' },
  /** Records of 1 000 bytes in each batch. */
  batches: { type: 'string' },
  /** Of each case, a third of which is not counted. */
  megabytes: { type: 'string' },
  runs: { type: 'string' },
  'without-mirror-maker': { type: 'boolean', default: false },
  'without-delay': { type: 'boolean', default: false },
  /** Prints where the Lockstep process spent its time; the figures are then those of a profiled process. */
  profile: { type: 'boolean', default: false },
} as const

/** `1,8,64` */
export const numbers = (text: string): number[] => text.split(',').map(Number)
