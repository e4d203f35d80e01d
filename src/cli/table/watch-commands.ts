/** Rows of the commands that look at what links do: explain, verify, top, events. */
import type { CommandRow } from '../command-row.ts'
import { link, maybeLink } from './options.ts'

export const WATCH_COMMANDS: readonly CommandRow[] = [
  {
    path: 'explain',
    text: 'why a topic is mirrored, or is not: each condition with its answer',
    argument: '<topic>',
    completes: ['source-topics'],
    options: [
      maybeLink('the link to ask about; without it all links'),
      { flags: '--mirror', text: 'the name is that of a mirror topic here, not that of the topic at the source' },
    ],
    load: async () => (await import('../commands/explain.ts')).explainTopic,
  },
  {
    path: 'verify',
    text: 'compare mirror topics with their source, batch by batch; exit code 3 if they differ',
    argument: '[topic...]',
    completes: ['mirrors'],
    options: [
      link('the link that the mirrors belong to'),
      { flags: '--pattern <regex>', text: 'all mirror topics of the link whose whole name matches, instead of names' },
      { flags: '--partition <n>', text: 'only this partition of each topic; repeatable', repeatable: true },
      { flags: '--from-offset <offset>', text: 'first offset to compare (default: the first that both ends have)' },
      { flags: '--to-offset <offset>', text: 'where to end, exclusive (default: what both ends have now)' },
      { flags: '--max-bytes-per-second <n>', text: 'read the source at most so fast' },
    ],
    examples: ['verify orders --link west', 'verify --pattern ".*" --link west -o json'],
    load: async () => (await import('../commands/verify/verify.ts')).verifyMirrors,
  },
  {
    path: 'tail read',
    text: 'print the records of files that truncate-and-restore exported, and what became of their transactions',
    argument: '<file...>',
    completes: ['files'],
    options: [
      { flags: '--from-offset <offset>', text: 'first offset to print' },
      { flags: '--max <n>', text: 'print at most so many records (default: 1000)' },
    ],
    examples: ['tail read orders-*/0/*.log', 'tail read --max 1000000 -o json orders-*/0/*.log'],
    load: async () => (await import('../commands/tail/read.ts')).readTails,
  },
  {
    path: 'top',
    text: 'a live table of lags and rates; on a terminal with keys (press ?)',
    options: [
      maybeLink('only mirrors of one link'),
      {
        flags: '--sort <column>',
        text: 'name, status, lag, time or rate (default: lag)',
        completes: ['name', 'status', 'lag', 'time', 'rate'],
      },
      { flags: '--partitions', text: 'a row for each partition' },
      { flags: '--interval <time>', text: 'how often to ask (500ms, 5s; default 1s)' },
      { flags: '--once', text: 'print the table once and end' },
    ],
    load: async () => (await import('../commands/top.ts')).showTop,
  },
  {
    path: 'events',
    text: 'follow what happens to links, mirrors and tasks as it happens, a line for each event',
    options: [
      maybeLink('only events of one link'),
      {
        flags: '--type <type>',
        text: 'only state, task, lag or link events; repeatable',
        repeatable: true,
        completes: ['state', 'task', 'lag', 'link'],
      },
      { flags: '--after <id>', text: 'begin behind this event, if the node still knows it' },
      { flags: '--max <n>', text: 'end after so many events' },
    ],
    examples: ['events --type state --type link', 'events -o json | jq .'],
    load: async () => (await import('../commands/events.ts')).followEvents,
  },
]
