/** Rows of `lockstep mirror ...`. */
import type { CommandRow, OptionRow } from '../command-row.ts'
import { CONFIG_FILE, config, DRY_RUN, FORCE, link, maybeLink, RESET } from './options.ts'

const OF_MIRRORS = link('the link that the mirrors belong to')
const OF_MIRROR = link('the link that the mirror belongs to')

const VERB = {
  argument: '[topic...]',
  completes: ['mirrors'],
} as const

const PATTERN: OptionRow = {
  flags: '--pattern <regex>',
  text: 'all mirror topics of the link whose whole name matches, instead of names',
}

const WAIT: OptionRow = {
  flags: '--wait [timeout]',
  text: 'show the progress until the end state is reached, at most so long (90s, 5m, 1h; default 5m)',
}

const TOGETHER: OptionRow = { flags: '--together', text: 'none of the topics becomes writable before all can' }

const REVERSE_OPTIONS = [OF_MIRRORS, PATTERN, DRY_RUN, TOGETHER, FORCE, WAIT]

export const MIRROR_COMMANDS: readonly CommandRow[] = [
  {
    path: 'mirror create',
    text: 'create a mirror topic of a source topic',
    argument: '<topic>',
    completes: ['source-topics'],
    options: [
      link('the link to mirror over'),
      {
        flags: '--source-topic <name>',
        text: 'name at the source, where the link has a prefix',
        completes: 'source-topics',
      },
      { flags: '--replication-factor <n>', text: "replicas here; without it the cluster's default" },
      config('overrides for topic configs that the link does not sync'),
    ],
    load: async () => (await import('../commands/mirror/create.ts')).createMirror,
  },
  {
    path: 'mirror list',
    text: 'list mirror topics',
    options: [
      maybeLink('only those of one link'),
      {
        flags: '--mirror-status <status>',
        text: 'active, failed, paused, stopped, pending_stopped or another status',
        completes: ['active', 'failed', 'paused', 'stopped', 'pending_stopped'],
      },
    ],
    load: async () => (await import('../commands/mirror/list.ts')).listMirrors,
  },
  {
    path: 'mirror describe',
    text: 'show one mirror topic, a row for each partition',
    argument: '<topic>',
    completes: ['mirrors'],
    options: [OF_MIRROR],
    load: async () => (await import('../commands/mirror/describe.ts')).describeMirror,
  },
  {
    path: 'mirror update',
    text: 'change configs of a mirror topic; those that its link syncs are refused',
    argument: '<topic>',
    completes: ['mirrors'],
    options: [
      maybeLink('the link that the mirror belongs to; it is checked if given'),
      config('topic configs to set'),
      CONFIG_FILE,
      RESET,
      { flags: '--dry-run', text: 'check everything and change nothing' },
    ],
    load: async () => (await import('../commands/topic/update.ts')).updateTopic,
  },
  {
    path: 'mirror move',
    text: 'let another Lockstep node of a joined cluster lead mirror topics; whoever led them stands in for it',
    argument: '<topic...>',
    completes: ['mirrors'],
    options: [
      OF_MIRRORS,
      { flags: '--to <node-id>', text: 'the node that shall lead', required: true },
      { flags: '--partition <n>', text: 'only this partition' },
      DRY_RUN,
    ],
    load: async () => (await import('../commands/mirror/move.ts')).moveMirrors,
  },
  {
    path: 'mirror promote',
    text: 'make topics writable once nothing of their source is missing; stop its producers first',
    ...VERB,
    options: [OF_MIRRORS, PATTERN, DRY_RUN, TOGETHER, FORCE, WAIT],
    examples: [
      'mirror promote orders payments --link west --together --wait',
      'mirror promote --pattern ".*" --link west',
    ],
    load: async () => (await import('../commands/mirror/promote.ts')).promoteMirrors,
  },
  {
    path: 'mirror failover',
    text: 'stop mirroring now and make topics writable; what the source has beyond them is lost here',
    ...VERB,
    options: [
      OF_MIRRORS,
      PATTERN,
      DRY_RUN,
      TOGETHER,
      { flags: '--keep-retention', text: 'leave retention as it was parked, so that no data is deleted soon' },
      FORCE,
      WAIT,
    ],
    examples: ['mirror failover orders --link west --dry-run', 'mirror failover --pattern ".*" --link west --wait=10m'],
    load: async () => (await import('../commands/mirror/failover.ts')).failOverMirrors,
  },
  {
    path: 'mirror pause',
    text: 'stop fetching mirror topics until they are resumed',
    ...VERB,
    options: [OF_MIRRORS, PATTERN, DRY_RUN],
    load: async () => (await import('../commands/mirror/pause.ts')).pauseMirrors,
  },
  {
    path: 'mirror resume',
    text: 'go on with mirror topics that were paused, or that failed and whose source is still the same',
    ...VERB,
    options: [OF_MIRRORS, PATTERN, DRY_RUN],
    load: async () => (await import('../commands/mirror/resume.ts')).resumeMirrors,
  },
  {
    path: 'mirror reverse-and-start',
    text: 'turn mirroring round: the mirror becomes writable, the source its mirror (bidirectional links)',
    ...VERB,
    options: REVERSE_OPTIONS,
    load: async () => (await import('../commands/mirror/reverse.ts')).reverseAndStart,
  },
  {
    path: 'mirror reverse-and-pause',
    text: 'the same, and the new mirror begins as PAUSED',
    ...VERB,
    options: REVERSE_OPTIONS,
    load: async () => (await import('../commands/mirror/reverse.ts')).reverseAndPause,
  },
  {
    path: 'mirror truncate-and-restore',
    text: 'cut writable topics back to what their counterpart has, and mirror it again (bidirectional links)',
    ...VERB,
    options: [
      OF_MIRRORS,
      PATTERN,
      DRY_RUN,
      { flags: '--include-partitions', text: 'show for each partition where it was cut' },
      { flags: '--paused', text: 'the restored mirrors begin as PAUSED' },
      { flags: '--export-divergent', text: 'first export the records that are cut off' },
      FORCE,
      WAIT,
    ],
    load: async () => (await import('../commands/mirror/restore.ts')).truncateAndRestore,
  },
  {
    path: 'mirror history',
    text: 'the last state changes and incidents of a mirror topic with their reasons, the newest first',
    argument: '<topic>',
    completes: ['mirrors'],
    options: [OF_MIRROR],
    load: async () => (await import('../commands/mirror/history.ts')).showHistory,
  },
  {
    path: 'mirror state-transition-error list',
    text: 'what keeps the promote of a mirror topic from its end',
    argument: '<topic>',
    completes: ['mirrors'],
    options: [OF_MIRROR],
    load: async () => (await import('../commands/mirror/state-transition-errors.ts')).listTransitionErrors,
  },
]
