// Asks a node over HTTP and holds every answer against the contract and against the node's own OpenAPI document.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { OpenApiAnswers } from '../../src/rest/fakes/openapi-answers.ts'
import { errorWith, type Shape } from './shapes.ts'

export interface Question {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/kafka/v3/clusters/{cluster_id}`, or a path of the node where it begins with `/kafka`. */
  readonly path: string
  readonly body?: object
  /** Sent as it is, in place of `body`. */
  readonly rawBody?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Expected {
  readonly status: number
  /** Absent = no body at all. */
  readonly shape?: Shape
}

export class ContractClient {
  readonly #origin: string
  readonly #base: string
  readonly #document: OpenApiAnswers
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true })

  constructor(origin: string, clusterId: string, openApi: unknown) {
    this.#origin = origin
    this.#base = `/kafka/v3/clusters/${clusterId}`
    this.#document = new OpenApiAnswers(openApi)
  }

  /** Operations of the document of which no answer was looked at. */
  get unseen(): string[] {
    return this.#document.operations.filter(name => name.includes('/kafka/') && !this.#document.seen.has(name))
  }

  /** The answer's body, which is as expected. */
  async ask(question: Question, expected: Expected): Promise<unknown> {
    const { method, path, headers = {} } = question
    const full = path.startsWith('/kafka') ? path : `${this.#base}${path}`
    const what = `${method} ${path}`
    const body = question.rawBody ?? (question.body === undefined ? undefined : JSON.stringify(question.body))
    const response = await fetch(`${this.#origin}${full}`, {
      method,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      signal: AbortSignal.timeout(60_000),
      ...(body === undefined ? {} : { body }),
    })
    const answer = await response.text()
    strictEqual(response.status, expected.status, `${what}: ${answer}`)
    deepStrictEqual(
      this.#document.problems(method, full.split('?')[0] ?? '', { status: response.status, text: answer }),
      [],
    )
    if (!expected.shape) {
      strictEqual(answer, '', `${what} has no body`)
      return undefined
    }
    match(response.headers.get('content-type') ?? '', /^application\/json/, what)
    const value = JSON.parse(answer) as unknown
    const validate = this.#ajv.compile(expected.shape)
    ok(validate(value), `${what}: ${this.#ajv.errorsText(validate.errors)}\n${answer.slice(0, 2000)}`)
    return value
  }

  /** GET with 200. */
  read(path: string, shape: Shape): Promise<unknown> {
    return this.ask({ method: 'GET', path }, { status: 200, shape })
  }

  /** An error with that status and code, and a message that the pattern matches. */
  refused(question: Question, [status, code]: readonly [number, number], message?: string): Promise<unknown> {
    return this.ask(question, { status, shape: errorWith(code, message) })
  }
}
