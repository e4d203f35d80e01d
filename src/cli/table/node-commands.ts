/** Rows of `lockstep node ...`, `user ...` and `completion`. */
import type { CommandRow } from '../command-row.ts'
import { DRY_RUN, FORCE } from './options.ts'

const JOINED = 'of a cluster that nodes have joined as brokers'

export const NODE_COMMANDS: readonly CommandRow[] = [
  {
    path: 'node list',
    text: 'list Lockstep nodes: mode, version, partitions led, health',
    load: async () => (await import('../commands/node/list.ts')).listNodes,
  },
  {
    path: 'node drain',
    text: `move everything away from a node ${JOINED}, and keep new mirrors away from it`,
    argument: '<node-id>',
    options: [
      DRY_RUN,
      { flags: '--resume', text: 'let a drained node have new mirrors again; nothing is moved back' },
      FORCE,
    ],
    load: async () => (await import('../commands/node/drain.ts')).drainNode,
  },
  {
    path: 'node placement',
    text: `list partitions that are not where they belong ${JOINED}`,
    load: async () => (await import('../commands/node/placement.ts')).showPlacement,
  },
  {
    path: 'node unregister',
    text: `remove a node that has gone for good ${JOINED}`,
    argument: '<node-id>',
    options: [FORCE],
    load: async () => (await import('../commands/node/unregister.ts')).unregisterNode,
  },
  {
    path: 'user hash',
    text: 'print the line of a user for the file of rest.users; the password is read from standard input',
    argument: '<user>',
    load: async () => (await import('../commands/user/hash.ts')).hashUser,
  },
  {
    path: 'completion',
    text: 'print the completion script of a shell, which completes names that the node knows, too',
    argument: '<shell>',
    completes: [['bash', 'zsh', 'fish']],
    examples: ['completion bash > ~/.local/share/bash-completion/completions/lockstep'],
    load: async () => (await import('../commands/completion.ts')).printCompletion,
  },
]
