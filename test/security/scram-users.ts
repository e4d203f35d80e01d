// SCRAM users made, shown and deleted by Kafka's own tool in the Java driver; used by the security suites.
import { doesNotMatch, match, strictEqual } from 'node:assert/strict'
import { eventually } from '../eventually.ts'
import type { JavaDriver } from '../java/driver.ts'

interface ToolAnswer {
  readonly status: number
  readonly out: string
  readonly err: string
}

/** kafka-configs.sh for one user. */
async function configure(java: JavaDriver, bootstrap: string, args: readonly string[]): Promise<string> {
  const where = ['--bootstrap-server', bootstrap, '--entity-type', 'users']
  const answer = await java.call<ToolAnswer>('run-tool', {
    tool: 'kafka.admin.ConfigCommand',
    args: [...where, ...args],
  })
  strictEqual(answer.status, 0, answer.out + answer.err)
  return answer.out
}

/** Both mechanisms get the password. */
export async function addScramUser(
  java: JavaDriver,
  bootstrap: string,
  { user, password }: { user: string; password: string },
): Promise<void> {
  for (const mechanism of ['SCRAM-SHA-256', 'SCRAM-SHA-512']) {
    const config = `${mechanism}=[iterations=4096,password=${password}]`
    await configure(java, bootstrap, ['--entity-name', user, '--alter', '--add-config', config])
  }
  // A broker of Kafka hears of them after the answer.
  await eventually(async () => {
    const told = await describeScramUser(java, bootstrap, user)
    for (const mechanism of ['SCRAM-SHA-256', 'SCRAM-SHA-512']) match(told, new RegExp(`${mechanism}=`))
  })
}

/** What the tool prints about a user. */
export const describeScramUser = (java: JavaDriver, bootstrap: string, user: string): Promise<string> =>
  configure(java, bootstrap, ['--entity-name', user, '--describe'])

/** One mechanism after the other: a request may name a user only once. */
export async function deleteScramUser(java: JavaDriver, bootstrap: string, user: string): Promise<void> {
  for (const mechanism of ['SCRAM-SHA-256', 'SCRAM-SHA-512'])
    await configure(java, bootstrap, ['--entity-name', user, '--alter', '--delete-config', mechanism])
  await eventually(async () => doesNotMatch(await describeScramUser(java, bootstrap, user), /SCRAM-SHA-\d+=/))
}
