/** The list of named checks that creation of a link, its dry run and preflights share; filled by the checks of this folder. */
import type { OperationalError } from '../../core/errors.ts'

/** In the order in which they are made and listed. */
export const linkCheckNames = [
  'PROPERTIES',
  'DNS',
  'TCP',
  'TLS',
  'LOGIN',
  'API_VERSIONS',
  'CLUSTER_ID',
  'ADVERTISED_LISTENERS',
  'DESCRIBE_TOPICS',
  'READ_TOPICS',
  'DESCRIBE_CONFIGS',
  'STATUS_TOPIC',
  'PEER_LINK',
  'GROUPS',
  'ACLS',
] as const

export type LinkCheckName = (typeof linkCheckNames)[number]

/** SKIPPED = not asked, because the link does not need it or because an earlier check failed. */
export type LinkCheckState = 'PASSED' | 'WARNING' | 'FAILED' | 'SKIPPED'

export interface LinkCheck {
  readonly name: LinkCheckName
  readonly state: LinkCheckState
  /** A sentence; never holds a secret. */
  readonly message: string
  /** What somebody can do about it. */
  readonly hint: string | null
}

export class CheckList {
  readonly #found = new Map<LinkCheckName, LinkCheck>()
  #refusal: OperationalError | undefined

  passed(name: LinkCheckName, message: string): void {
    this.#found.set(name, { name, state: 'PASSED', message, hint: null })
  }

  warn(name: LinkCheckName, message: string, hint: string | null = null): void {
    this.#found.set(name, { name, state: 'WARNING', message, hint })
  }

  skipped(name: LinkCheckName, message: string): void {
    this.#found.set(name, { name, state: 'SKIPPED', message, hint: null })
  }

  /** `refusal` is what the creation of the link answers. */
  failed(name: LinkCheckName, refusal: OperationalError, told: { message?: string; hint?: string | null } = {}): void {
    const { message = refusal.message, hint = refusal.hint ?? null } = told
    this.#found.set(name, { name, state: 'FAILED', message, hint })
    this.#refusal ??= refusal
  }

  /** Of the first check that failed. */
  get refusal(): OperationalError | undefined {
    return this.#refusal
  }

  /** All checks; those that nothing was found out about are SKIPPED. */
  get results(): LinkCheck[] {
    const message = this.#refusal ? 'Not checked, because an earlier check failed.' : 'Not checked.'
    return linkCheckNames.map(name => this.#found.get(name) ?? { name, state: 'SKIPPED', message, hint: null })
  }

  get warnings(): string[] {
    return this.results.flatMap(({ state, message }) => (state === 'WARNING' ? [message] : []))
  }
}
