/** Rows of `lockstep group ...`, `consumer-group ...` and `acl ...`. */
import type { CommandRow } from '../command-row.ts'
import { FORCE, link } from './options.ts'

export const GROUP_COMMANDS: readonly CommandRow[] = [
  {
    path: 'group list',
    text: 'offsets of the groups that a link keeps in step, and why some are not',
    options: [link('the link')],
    load: async () => (await import('../commands/group/list.ts')).listGroups,
  },
  {
    path: 'group adopt',
    text: 'let a link overwrite offsets of a group that it did not write (state CONFLICT)',
    argument: '<group>',
    completes: ['groups'],
    options: [link('the link'), FORCE],
    load: async () => (await import('../commands/group/adopt.ts')).adoptGroup,
  },
  {
    path: 'consumer-group list',
    text: 'list the consumer groups of this cluster',
    load: async () => (await import('../commands/consumer-group/list.ts')).listConsumerGroups,
  },
  {
    path: 'consumer-group lag',
    text: 'how far a consumer group is behind, for each partition',
    argument: '<group>',
    completes: ['groups'],
    load: async () => (await import('../commands/consumer-group/lag.ts')).showGroupLag,
  },
  {
    path: 'acl list',
    text: 'the ACLs that a link created here and keeps in step with the source',
    options: [link('the link')],
    load: async () => (await import('../commands/acl/list.ts')).listAcls,
  },
]
