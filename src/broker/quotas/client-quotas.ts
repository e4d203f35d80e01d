/**
 * Holds clients to the quotas of the image: measures what they use and says how long they must pause (KIP-13, KIP-55, KIP-124,
 * KIP-219, KIP-599). One per broker; RequestThrottle asks it for each request.
 */
import type { Clock } from '../../core/clock.ts'
import { RecentEntries } from '../../core/recent-entries.ts'
import { SampledRate, type SampleWindows } from '../../core/sampled-rate.ts'
import { type AppliedQuota, type ClientQuotaKey, type QuotaClient, quotaOf } from '../../metadata/client-quotas.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { TokenBucket } from './token-bucket.ts'

/** Quotas that are rates. */
export type RateKey = Exclude<ClientQuotaKey, 'controller_mutation_rate'>

export interface ClientQuotasOptions {
  readonly image: () => Pick<MetadataImage, 'clientQuotas'>
  /** `quota.window.num`, `quota.window.size.seconds` */
  readonly windows: SampleWindows
  /** `controller.quota.window.num`, `controller.quota.window.size.seconds` */
  readonly mutationWindows: SampleWindows
  readonly clock: Clock
}

/** Pauses since the start, by the quota that asked for them. */
export interface ThrottleFigures {
  readonly requests: number
  readonly ms: number
}

/** Who has not been heard of for so long is forgotten. */
const FORGET_MS = 3_600_000
/** Clients and client ids remembered, per purpose; names are the clients' choice. */
const REMEMBERED_MAX = 10_000

export class ClientQuotas {
  readonly #options: ClientQuotasOptions
  readonly #rates: RecentEntries<SampledRate>
  readonly #buckets: RecentEntries<TokenBucket>
  readonly #figures = new Map<ClientQuotaKey, { requests: number; ms: number }>()
  /** Of one state of the quotas. */
  #resolved: { readonly of: MetadataImage['clientQuotas']; readonly quotas: Map<string, AppliedQuota | undefined> }

  constructor(options: ClientQuotasOptions) {
    this.#options = options
    this.#resolved = { of: options.image().clientQuotas, quotas: new Map() }
    const { windows, mutationWindows } = options
    const limits = { max: REMEMBERED_MAX, forgetMs: FORGET_MS }
    this.#rates = new RecentEntries({ ...limits, create: () => new SampledRate(windows) })
    this.#buckets = new RecentEntries({ ...limits, create: () => new TokenBucket(mutationWindows) })
  }

  /** Is there any quota? Without one nothing is measured. */
  get isEnabled(): boolean {
    return this.#options.image().clientQuotas.size > 0
  }

  /** Counts what was used; returns for how long the client must pause, 0 within its quota. */
  record(key: RateKey, client: QuotaClient, used: number): number {
    const quota = this.#quota(key, client)
    if (!quota) return 0
    const nowMs = this.#options.clock.monotonicMs()
    const rate = this.#rates.get(nameOf(key, quota), nowMs)
    rate.record(used, nowMs)
    const excessMs = rate.excessMs(quota.bound, nowMs)
    // Time that was spent is gone: a pause of one sample is enough for the next look.
    return key === 'request_percentage' ? Math.min(excessMs, this.#options.windows.sizeMs) : excessMs
  }

  /** Takes back what was counted and then not done. */
  takeBack(key: RateKey, client: QuotaClient, used: number): void {
    const quota = this.#quota(key, client)
    const nowMs = this.#options.clock.monotonicMs()
    if (quota) this.#rates.get(nameOf(key, quota), nowMs).record(-used, nowMs)
  }

  /** The most that an answer may use at once: what the quota allows in a whole window. */
  mostAtOnce(key: RateKey, client: QuotaClient): number {
    const quota = this.#quota(key, client)
    const { count, sizeMs } = this.#options.windows
    return quota ? (quota.bound * Math.max(1, count - 1) * sizeMs) / 1000 : Number.POSITIVE_INFINITY
  }

  /**
   * Partitions that a client creates or deletes. Strict: refused while there is a debt, which the answer says; otherwise done and
   * paid for by a pause. Returns the milliseconds of either.
   */
  mutate(client: QuotaClient, partitions: number, { strict }: { readonly strict: boolean }): number {
    const key = 'controller_mutation_rate'
    const quota = this.#quota(key, client)
    if (!quota) return 0
    const nowMs = this.#options.clock.monotonicMs()
    const bucket = this.#buckets.get(nameOf(key, quota), nowMs)
    const of = { rate: quota.bound, nowMs }
    const debtMs = strict ? bucket.debtMs(of) : 0
    if (debtMs > 0) return debtMs
    bucket.take(partitions, of)
    return strict ? 0 : bucket.debtMs(of)
  }

  /** A pause that a client was told. */
  throttled(key: ClientQuotaKey, ms: number): void {
    const figures = this.#figures.get(key) ?? { requests: 0, ms: 0 }
    figures.requests++
    figures.ms += ms
    this.#figures.set(key, figures)
  }

  figures(key: ClientQuotaKey): ThrottleFigures {
    return this.#figures.get(key) ?? { requests: 0, ms: 0 }
  }

  #quota(key: ClientQuotaKey, client: QuotaClient): AppliedQuota | undefined {
    const { clientQuotas } = this.#options.image()
    if (clientQuotas.size === 0) return undefined
    if (this.#resolved.of !== clientQuotas || this.#resolved.quotas.size >= REMEMBERED_MAX)
      this.#resolved = { of: clientQuotas, quotas: new Map() }
    const name = nameOf(key, client)
    const known = this.#resolved.quotas.get(name)
    if (known || this.#resolved.quotas.has(name)) return known
    const quota = quotaOf(clientQuotas, key, client)
    this.#resolved.quotas.set(name, quota)
    return quota
  }
}

const nameOf = (key: ClientQuotaKey, { user, clientId }: QuotaClient): string => JSON.stringify([key, user, clientId])
