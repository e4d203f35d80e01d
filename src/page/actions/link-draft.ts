/** What somebody has filled in for a new link, and the request it makes. Pure; the dialog that creates links uses it. */
import type { CreateLinkBody } from '../../rest/schemas/links.ts'

export interface LinkDraft {
  readonly name: string
  readonly bootstrap: string
  readonly protocol: string
  readonly mechanism: string
  readonly user: string
  readonly password: string
  readonly prefix: string
  readonly syncsOffsets: boolean
  readonly createsMirrors: boolean
  /** The other cluster has, or gets, a half of the same name. */
  readonly isTwoWay: boolean
  /** `name=value`, one a line. */
  readonly more: string
}

export const emptyDraft: LinkDraft = {
  ...{ name: '', bootstrap: '', protocol: 'PLAINTEXT', mechanism: 'SCRAM-SHA-512', user: '', password: '', prefix: '' },
  ...{ syncsOffsets: true, createsMirrors: false, isTwoWay: false, more: '' },
}

export const isComplete = ({ name, bootstrap }: LinkDraft): boolean => name.trim() !== '' && bootstrap.trim() !== ''

export const usesLogin = ({ protocol }: LinkDraft): boolean => protocol.startsWith('SASL')

const everything = (of: string) => `{"${of}":[{"name":"*","patternType":"LITERAL","filterType":"INCLUDE"}]}`

/** Later ones win: what is written out by hand is meant. */
export function bodyOf(draft: LinkDraft): CreateLinkBody {
  const configs = new Map([['bootstrap.servers', draft.bootstrap.trim()]])
  if (draft.protocol !== 'PLAINTEXT') configs.set('security.protocol', draft.protocol)
  if (usesLogin(draft)) {
    configs.set('sasl.mechanism', draft.mechanism)
    configs.set('sasl.jaas.config', jaas(draft))
  }
  if (draft.isTwoWay) configs.set('link.mode', 'BIDIRECTIONAL')
  if (draft.prefix !== '') configs.set('cluster.link.prefix', draft.prefix)
  if (draft.syncsOffsets) {
    configs.set('consumer.offset.sync.enable', 'true')
    configs.set('consumer.offset.group.filters', everything('groupFilters'))
  }
  if (draft.createsMirrors) {
    configs.set('auto.create.mirror.topics.enable', 'true')
    configs.set('auto.create.mirror.topics.filters', everything('topicFilters'))
  }
  for (const line of draft.more.split('\n')) {
    const at = line.indexOf('=')
    if (at > 0) configs.set(line.slice(0, at).trim(), line.slice(at + 1).trim())
  }
  return { configs: [...configs].map(([name, value]) => ({ name, value })) }
}

function jaas({ mechanism, user, password }: LinkDraft): string {
  const quoted = (text: string) => `"${text.replace(/[\\"]/g, '\\$&')}"`
  const module =
    mechanism === 'PLAIN'
      ? 'org.apache.kafka.common.security.plain.PlainLoginModule'
      : 'org.apache.kafka.common.security.scram.ScramLoginModule'
  return `${module} required username=${quoted(user)} password=${quoted(password)};`
}
