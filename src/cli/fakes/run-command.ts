/** Runs the command line in this process against a REST server with a fake engine; tests of commands use it. */
import { type FakeEngine, fakeContext } from '../../rest/fakes/fake-engine.ts'
import { buildRestApplication } from '../../rest/server.ts'
import { Program } from '../program.ts'
import { fakeTerminal } from './fake-terminal.ts'

/** What an invocation did. */
export interface Result {
  readonly code: number
  readonly out: string
  readonly err: string
  readonly asked: string[]
}

/** Runs `lockstep ...args` against `engine`; `answer` is typed at every prompt (which makes the terminal interactive). */
export async function lockstep(engine: FakeEngine, args: string[], answer?: string): Promise<Result> {
  const app = await buildRestApplication(fakeContext(engine))
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  try {
    return await lockstepAt(url, args, { answer })
  } finally {
    await app.close()
  }
}

/** The same against a server that runs. `columns` is the width of the screen, without which there is none. */
export async function lockstepAt(
  url: string,
  args: readonly string[],
  { answer, columns }: { answer?: string | undefined; columns?: number | undefined } = {},
): Promise<Result> {
  const terminal = fakeTerminal({ answer, columns })
  const environment = { terminal, env: { LOCKSTEP_URL: url, HOME: '/nonexistent' } }
  const code = await new Program(environment, '1.2.3').run(args)
  return { code, ...terminal.written, asked: terminal.asked }
}
