/** All commands that are clients of REST, the groups they are in, and the options that every command has. Read by the program, the completion and the docs. */
import type { CommandRow, OptionRow } from './command-row.ts'
import { GROUP_COMMANDS } from './table/group-commands.ts'
import { LINK_COMMANDS } from './table/link-commands.ts'
import { MIRROR_COMMANDS } from './table/mirror-commands.ts'
import { NODE_COMMANDS } from './table/node-commands.ts'
import { TOPIC_COMMANDS } from './table/topic-commands.ts'
import { WATCH_COMMANDS } from './table/watch-commands.ts'

/** What the words before the last one stand for. */
export const GROUPS: Readonly<Record<string, string>> = {
  link: 'links to other clusters',
  'link configuration': 'properties of links',
  'link task': 'periodic tasks of links',
  mirror: 'mirror topics',
  'mirror state-transition-error': 'why a change of state does not get on',
  topic: 'topics of this cluster',
  group: 'groups whose offsets follow their source',
  'consumer-group': 'consumer groups of this cluster',
  acl: 'ACLs that links keep in step',
  tail: 'records that restores cut off',
  node: 'Lockstep nodes of this cluster',
  user: 'users of the REST API',
}

export const COMMANDS: readonly CommandRow[] = [
  ...LINK_COMMANDS,
  ...MIRROR_COMMANDS,
  ...WATCH_COMMANDS,
  ...GROUP_COMMANDS,
  ...TOPIC_COMMANDS,
  ...NODE_COMMANDS,
]

export const GLOBAL_OPTIONS: readonly OptionRow[] = [
  { flags: '--url <url>', text: 'REST endpoint of a node (default: $LOCKSTEP_URL or http://127.0.0.1:8090)' },
  {
    flags: '--certificate-authority-path <file>',
    text: 'PEM of the authorities to trust (default: $LOCKSTEP_CA)',
    completes: 'files',
  },
  {
    flags: '--client-cert-path <file>',
    text: 'PEM of a client certificate (default: $LOCKSTEP_CLIENT_CERT)',
    completes: 'files',
  },
  { flags: '--client-key-path <file>', text: 'PEM of its key (default: $LOCKSTEP_CLIENT_KEY)', completes: 'files' },
  { flags: '--no-authentication', text: 'send no user and password ($LOCKSTEP_USER, $LOCKSTEP_PASSWORD)' },
  {
    flags: '-o, --output <format>',
    text: 'human, json or yaml (default: human)',
    completes: ['human', 'json', 'yaml'],
  },
]
