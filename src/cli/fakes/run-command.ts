/** Runs the command line in this process against a REST server with a fake engine; tests of commands use it. */
import { type FakeEngine, fakeContext } from '../../rest/fakes/fake-engine.ts'
import { buildRestApplication } from '../../rest/server.ts'
import type { CliEnvironment } from '../context.ts'
import { buildProgram, runProgram } from '../program.ts'

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
    return await lockstepAt(url, args, answer)
  } finally {
    await app.close()
  }
}

/** The same against a server that runs. */
export async function lockstepAt(url: string, args: string[], answer?: string): Promise<Result> {
  const texts = { out: '', err: '' }
  const asked: string[] = []
  const environment: CliEnvironment = {
    terminal: {
      out: text => {
        texts.out += text
      },
      err: text => {
        texts.err += text
      },
      interactive: answer !== undefined,
      ask: async question => {
        asked.push(question)
        return answer ?? ''
      },
    },
    env: { LOCKSTEP_URL: url, HOME: '/nonexistent' },
  }
  const code = await runProgram(buildProgram(environment, '1.2.3'), args, environment)
  return { code, ...texts, asked }
}
