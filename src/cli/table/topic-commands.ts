/** Rows of `lockstep topic ...`. */
import type { CommandRow } from '../command-row.ts'
import { CONFIG_FILE, config, FORCE, RESET } from './options.ts'

export const TOPIC_COMMANDS: readonly CommandRow[] = [
  {
    path: 'topic list',
    text: 'list topics',
    load: async () => (await import('../commands/topic/list.ts')).listTopics,
  },
  {
    path: 'topic describe',
    text: 'show one topic: partitions, and configs that are not defaults',
    argument: '<topic>',
    completes: ['topics'],
    options: [{ flags: '--all-configs', text: 'show defaults, too' }],
    load: async () => (await import('../commands/topic/describe.ts')).describeTopic,
  },
  {
    path: 'topic create',
    text: 'create an ordinary topic',
    argument: '<topic>',
    options: [
      { flags: '--partitions <n>', text: "number of partitions; without it the cluster's default" },
      { flags: '--replication-factor <n>', text: "replicas; without it the cluster's default" },
      config('topic configs'),
    ],
    load: async () => (await import('../commands/topic/create.ts')).createTopic,
  },
  {
    path: 'topic update',
    text: 'change configs of a topic',
    argument: '<topic>',
    completes: ['topics'],
    options: [
      config('topic configs to set'),
      CONFIG_FILE,
      RESET,
      { flags: '--dry-run', text: 'check everything and change nothing' },
    ],
    load: async () => (await import('../commands/topic/update.ts')).updateTopic,
  },
  {
    path: 'topic delete',
    text: 'delete a topic and all its data; of a mirror this ends the mirror',
    argument: '<topic>',
    completes: ['topics'],
    options: [FORCE],
    load: async () => (await import('../commands/topic/delete.ts')).deleteTopic,
  },
]
