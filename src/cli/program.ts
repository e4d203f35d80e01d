/** The command line: all commands over REST, exit codes and error texts; called by bin/lockstep. */
import { Command, CommanderError } from 'commander'
import { messageOf } from '../core/errors.ts'
import { addAclList } from './commands/acl/list.ts'
import { addGroupAdopt } from './commands/group/adopt.ts'
import { addGroupList } from './commands/group/list.ts'
import { addLinkConfigurationList } from './commands/link/configuration/list.ts'
import { addLinkConfigurationUpdate } from './commands/link/configuration/update.ts'
import { addLinkCreate } from './commands/link/create.ts'
import { addLinkDelete } from './commands/link/delete.ts'
import { addLinkDescribe } from './commands/link/describe.ts'
import { addLinkList } from './commands/link/list.ts'
import { addLinkTaskList } from './commands/link/task/list.ts'
import { addLinkTaskRun } from './commands/link/task/run.ts'
import { addMirrorCreate } from './commands/mirror/create.ts'
import { addMirrorDescribe } from './commands/mirror/describe.ts'
import { addMirrorFailover } from './commands/mirror/failover.ts'
import { addMirrorList } from './commands/mirror/list.ts'
import { addMirrorPause } from './commands/mirror/pause.ts'
import { addMirrorPromote } from './commands/mirror/promote.ts'
import { addMirrorResume } from './commands/mirror/resume.ts'
import { addMirrorTransitionErrors } from './commands/mirror/state-transition-errors.ts'
import { addTopicCreate } from './commands/topic/create.ts'
import { addTopicDelete } from './commands/topic/delete.ts'
import { addTopicList } from './commands/topic/list.ts'
import { addUserHash } from './commands/user/hash.ts'
import { type CliEnvironment, PartlyFailed } from './context.ts'
import { NodeUnreachable, RestFailure } from './rest-client.ts'
import { UsageError } from './usage-error.ts'

/** 0 ok, 1 failed, 2 usage, 3 partly failed, 4 cannot reach the node. */
export const EXIT = { ok: 0, failed: 1, usage: 2, partly: 3, unreachable: 4 } as const

/** A command that the caller adds (server and demo, which are not clients of REST). */
export type AddCommand = (program: Command) => void

/** Builds the program; nothing runs yet. */
export function buildProgram(environment: CliEnvironment, version: string, extra: readonly AddCommand[] = []): Command {
  const { terminal } = environment
  const program = new Command('lockstep')
    .description('Cluster linking for Apache Kafka, without forking Kafka')
    .version(version, '--version', 'show the version')
    .option('--url <url>', 'REST endpoint of a node (default: $LOCKSTEP_URL or http://127.0.0.1:8090)')
    .option('--certificate-authority-path <file>', 'PEM of the authorities to trust (default: $LOCKSTEP_CA)')
    .option('--client-cert-path <file>', 'PEM of a client certificate (default: $LOCKSTEP_CLIENT_CERT)')
    .option('--client-key-path <file>', 'PEM of its key (default: $LOCKSTEP_CLIENT_KEY)')
    .option('--no-authentication', 'send no user and password ($LOCKSTEP_USER, $LOCKSTEP_PASSWORD)')
    .option('-o, --output <format>', 'human, json or yaml', 'human')
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .exitOverride()
    .showHelpAfterError('(add --help for usage)')
  for (const add of extra) add(program)

  const link = program.command('link').description('links to other clusters')
  for (const add of [addLinkCreate, addLinkList, addLinkDescribe, addLinkDelete]) add(link, environment)
  addLinkConfigurationUpdate(link, environment)
  const configuration = link.command('configuration').description('properties of links')
  addLinkConfigurationList(configuration, environment)
  addLinkConfigurationUpdate(configuration, environment)
  const task = link.command('task').description('periodic tasks of links')
  for (const add of [addLinkTaskList, addLinkTaskRun]) add(task, environment)
  const mirror = program.command('mirror').description('mirror topics')
  for (const add of [
    addMirrorCreate,
    addMirrorList,
    addMirrorDescribe,
    addMirrorPromote,
    addMirrorFailover,
    addMirrorPause,
    addMirrorResume,
    addMirrorTransitionErrors,
  ])
    add(mirror, environment)
  const group = program.command('group').description('groups whose offsets follow their source')
  for (const add of [addGroupList, addGroupAdopt]) add(group, environment)
  const acl = program.command('acl').description('ACLs that links keep in step')
  addAclList(acl, environment)
  const topic = program.command('topic').description('topics of this cluster')
  for (const add of [addTopicCreate, addTopicList, addTopicDelete]) add(topic, environment)
  addUserHash(program.command('user').description('users of the REST API'), environment)
  return program
}

/** Parses and runs one invocation (`args` without node and script); resolves to the exit code and never rejects. */
export async function runProgram(
  program: Command,
  args: readonly string[],
  environment: CliEnvironment,
): Promise<number> {
  const { terminal } = environment
  try {
    await program.parseAsync([...args], { from: 'user' })
    return EXIT.ok
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    terminal.err(`Error: ${messageOf(error)}\n`)
    if (error instanceof RestFailure && error.hint !== undefined) terminal.err(`Hint: ${error.hint}\n`)
    if (error instanceof UsageError) return EXIT.usage
    if (error instanceof PartlyFailed) return EXIT.partly
    return error instanceof NodeUnreachable ? EXIT.unreachable : EXIT.failed
  }
}
