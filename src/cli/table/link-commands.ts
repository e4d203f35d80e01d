/** Rows of `lockstep link ...`. */
import type { CommandRow, OptionRow } from '../command-row.ts'
import { CONFIG_FILE, config, DRY_RUN, FORCE, RESET } from './options.ts'

const END = { source: 'the source cluster', destination: 'the destination cluster', remote: 'the remote cluster' }

const ENDS: readonly OptionRow[] = [
  ...(Object.keys(END) as (keyof typeof END)[]).flatMap(end => [
    { flags: `--${end}-bootstrap-server <host:port,...>`, text: `where ${END[end]} answers` },
    { flags: `--${end}-cluster <id>`, text: `expected id of ${END[end]}; without it the id that answers is pinned` },
    { flags: `--${end}-api-key <key>`, text: `user of ${END[end]}: SASL_SSL with PLAIN; needs --${end}-api-secret` },
    { flags: `--${end}-api-secret <secret>`, text: `password of that user` },
  ]),
  { flags: '--local-api-key <key>', text: 'user at this end of the link, for its properties local.*' },
  { flags: '--local-api-secret <secret>', text: 'password of that user' },
]

const UPDATE: Omit<CommandRow, 'path'> = {
  text: 'change properties of a link; its mirrors go on where they are',
  argument: '<link>',
  completes: ['links'],
  options: [config('properties to set'), CONFIG_FILE, RESET, DRY_RUN],
  load: async () => (await import('../commands/link/configuration/update.ts')).updateLinkConfiguration,
}

export const LINK_COMMANDS: readonly CommandRow[] = [
  {
    path: 'link create',
    text: 'create a link to another cluster',
    argument: '<link>',
    options: [
      ...ENDS,
      config('link properties'),
      CONFIG_FILE,
      { flags: '--dry-run', text: 'check everything and change nothing' },
      { flags: '--no-validate', text: 'do not ask the source before creating the link' },
    ],
    examples: [
      'link create west --source-bootstrap-server west-1:9092,west-2:9092',
      'link create west --source-bootstrap-server west:9092 --dry-run',
    ],
    load: async () => (await import('../commands/link/create.ts')).createLink,
  },
  {
    path: 'link list',
    text: 'list links',
    options: [{ flags: '--include-topics', text: 'one row for every mirror topic of each link' }],
    load: async () => (await import('../commands/link/list.ts')).listLinks,
  },
  {
    path: 'link describe',
    text: 'show one link',
    argument: '<link>',
    completes: ['links'],
    load: async () => (await import('../commands/link/describe.ts')).describeLink,
  },
  { path: 'link update', ...UPDATE },
  {
    path: 'link delete',
    text: 'delete links; refused while a mirror is not STOPPED',
    argument: '<link...>',
    completes: ['links'],
    options: [
      FORCE,
      { flags: '--fail-over-mirrors', text: 'first fail over every mirror of the link that is not STOPPED' },
      { flags: '--dry-run', text: 'check and change nothing' },
    ],
    load: async () => (await import('../commands/link/delete.ts')).deleteLinks,
  },
  {
    path: 'link preflight',
    text: 'check everything that creating a link would check, one result for each thing',
    argument: '[link]',
    options: [...ENDS, config('link properties'), CONFIG_FILE],
    examples: ['link preflight west --source-bootstrap-server west-1:9092'],
    load: async () => (await import('../commands/link/preflight.ts')).preflightLink,
  },
  {
    path: 'link source-topics',
    text: 'list the topics of the source with whether, and why not, they are mirrored',
    argument: '<link>',
    completes: ['links'],
    options: [{ flags: '--not-mirrored', text: 'only those that are not mirrored' }],
    load: async () => (await import('../commands/link/source-topics.ts')).listSourceTopics,
  },
  {
    path: 'link configuration list',
    text: 'list the properties of a link',
    argument: '<link>',
    completes: ['links'],
    load: async () => (await import('../commands/link/configuration/list.ts')).listLinkConfiguration,
  },
  { path: 'link configuration update', ...UPDATE },
  {
    path: 'link task list',
    text: 'list the periodic tasks of a link',
    argument: '<link>',
    completes: ['links'],
    load: async () => (await import('../commands/link/task/list.ts')).listLinkTasks,
  },
  {
    path: 'link task run',
    text: 'run a periodic task of a link now',
    argument: '<link> <task>',
    completes: ['links', 'tasks'],
    load: async () => (await import('../commands/link/task/run.ts')).runLinkTask,
  },
]
