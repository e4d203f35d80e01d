/** What the properties file says about REST: where it listens, who may come without a login. Called by settings. */
import type { Authorizer } from '../../metadata/authorizer.ts'
import { allowAll } from '../../metadata/authorizer.ts'
import type { ListenerEndpoint } from '../listeners.ts'
import { isLoopback, parseRestListener } from '../own-properties.ts'

export interface RestSettings {
  /** As a listener of the name REST: `listener.name.rest.ssl.…` are the properties of its TLS. */
  readonly endpoint: ListenerEndpoint
  /** File of users; undefined = the cluster's SCRAM users. */
  readonly usersFile: string | undefined
  readonly anonymousAllowed: boolean
  /** Names by which requests without a login may call this node; undefined = any. */
  readonly anonymousHosts: ReadonlySet<string> | undefined
  /** Where others reach REST; undefined = where it listens. */
  readonly advertisedUrl: string | undefined
  readonly metricsOpen: boolean
}

export interface RestTexts {
  readonly listener: string
  readonly advertised: string | undefined
  readonly usersFile: string | undefined
  readonly allowAnonymous: boolean
  readonly metricsOpen: boolean
}

/** Problems and warnings are pushed to `say`. */
export function restSettings(
  texts: RestTexts,
  authorizer: Authorizer,
  say: { readonly problems: string[]; readonly warnings: string[] },
): RestSettings {
  const { host, port, tls } = parseRestListener(texts.listener)
  const { usersFile, allowAnonymous, metricsOpen } = texts
  const local = isLoopback(host)
  const advertisedUrl = texts.advertised?.replace(/\/$/, '')
  if (!local && !allowAnonymous && usersFile === undefined && authorizer === allowAll)
    say.problems.push(
      `rest.listeners: ${host} is not a loopback address, and anybody who can log in could do everything; set authorizer.class.name or rest.users, or rest.allow.anonymous=true`,
    )
  if (!local && !tls && !allowAnonymous)
    say.warnings.push(`rest.listeners: passwords travel to ${host} in the clear; use https`)
  return {
    endpoint: { name: 'REST', host, port, protocol: tls ? 'SSL' : 'PLAINTEXT' },
    usersFile,
    anonymousAllowed: allowAnonymous || (local && usersFile === undefined),
    anonymousHosts: local ? localNames(advertisedUrl) : undefined,
    advertisedUrl,
    metricsOpen,
  }
}

/**
 * On a loopback address whoever reaches it is let in, so a web page whose name its owner has made to lead here (DNS rebinding)
 * must not: browsers send that name. Addresses of this machine are told apart by `isTrustedHost`.
 */
const localNames = (advertisedUrl: string | undefined): ReadonlySet<string> =>
  new Set(['localhost', ...(advertisedUrl === undefined ? [] : [new URL(advertisedUrl).hostname])])
