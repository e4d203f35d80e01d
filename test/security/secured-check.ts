// What `lockstep server --check` says of a secured cluster, and which connections broke there.
import { ok } from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkCluster } from '../../src/node/joined/check-cluster.ts'
import { parseSettings } from '../../src/node/settings.ts'
import { NODE_ID, type SecuredCluster, type User } from './secured-cluster.ts'

/** Problems and warnings, a line each, with the properties of a node that logs in like that. */
export async function checkSecured(
  { cluster, nodeProperties }: SecuredCluster,
  {
    user,
    password,
    ...more
  }: { readonly user: User; readonly password?: string; readonly [property: string]: string | undefined },
): Promise<{ readonly problems: string; readonly warnings: string }> {
  const settings = parseSettings(
    new Map([
      ...Object.entries(nodeProperties(user, password)),
      ['cluster.id', cluster.clusterId],
      ['listeners', 'PLAINTEXT://127.0.0.1:1'],
      ['log.dirs', join(tmpdir(), 'lockstep-never-made')],
      ...Object.entries(more).map(([name, value = '']): [string, string] => [name, value]),
    ]),
  )
  ok(settings.joined)
  const { problems, warnings } = await checkCluster(settings, settings.joined)
  return { problems: problems.join('\n'), warnings: warnings.join('\n') }
}

/** How often the node began to follow the controllers, missed one with a heartbeat, or was lost by a Kafka broker that follows it. */
export function lostConnections(processes: readonly { readonly output: string }[]): number {
  const told = processes.map(({ output }) => output).join('\n')
  const pattern = `following the metadata log|a heartbeat failed|to (?:node )?${NODE_ID} was disconnected`
  return [...told.matchAll(new RegExp(pattern, 'g'))].length
}
