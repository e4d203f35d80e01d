/** What the demo was asked to do, checked; called by run-demo before anything starts. */

/** As given on the command line. */
export interface DemoOptions {
  readonly once: boolean
  /** `host:port`, or several separated by commas. */
  readonly source: string | undefined
  readonly topic: string | undefined
  /** Records of `--once`; default 200 000. */
  readonly records?: number
}

export type DemoPlan =
  /** Two nodes, a producer at a steady rate, a live table until Ctrl-C. */
  | { readonly kind: 'live' }
  /** Two nodes, so many records, the source killed, failover, comparison, end. */
  | { readonly kind: 'once'; readonly records: number }
  /** One node that mirrors a topic of somebody's own Kafka, a live table until Ctrl-C. */
  | { readonly kind: 'follow'; readonly bootstrap: string; readonly topic: string }

/** The options do not go together; exit code 2. */
export class DemoUsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DemoUsageError'
  }
}

const RECORDS_DEFAULT = 200_000
const RECORDS_MAX = 10_000_000
const ADDRESS = /^(\[[0-9a-fA-F:]+\]|[^\s:/[\],]+):(\d{1,5})$/

/** Throws DemoUsageError. */
export function planDemo(options: DemoOptions): DemoPlan {
  const { once, source, topic, records = RECORDS_DEFAULT } = options
  if (once && (source !== undefined || topic !== undefined))
    throw new DemoUsageError(
      '--once kills its source to compare both sides and cannot be combined with --source or --topic',
    )
  if (source === undefined && topic !== undefined)
    throw new DemoUsageError('--topic names a topic of your own Kafka: add --source HOST:PORT')
  if (source !== undefined) return planFollow(source, topic)
  if (!once) return { kind: 'live' }
  if (!Number.isSafeInteger(records) || records < 1 || records > RECORDS_MAX)
    throw new DemoUsageError(`the number of records must be a whole number from 1 to ${RECORDS_MAX}, not ${records}`)
  return { kind: 'once', records }
}

function planFollow(source: string, topic: string | undefined): DemoPlan {
  const addresses = source.split(',').map(item => item.trim())
  for (const address of addresses) {
    const port = Number(ADDRESS.exec(address)?.[2] ?? 0)
    if (port < 1 || port > 65535)
      throw new DemoUsageError(
        `--source must be HOST:PORT of a Kafka broker, for example 127.0.0.1:9092, not "${source}"`,
      )
  }
  if (topic === undefined || topic.trim() === '')
    throw new DemoUsageError('--source needs --topic NAME: the topic of your Kafka to mirror')
  return { kind: 'follow', bootstrap: addresses.join(','), topic: topic.trim() }
}
