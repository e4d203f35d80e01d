/** Holds answers against the OpenAPI document of a node; used by the tests of routes and by the suite that holds a real node to its contract. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema?: object }>> }>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Known {
  readonly method: string
  readonly pattern: RegExp
  /** Parameters of the path: of two that match, the one with fewer is meant. */
  readonly parameters: number
  readonly name: string
  readonly operation: Operation
}

export class OpenApiAnswers {
  readonly #operations: readonly Known[]
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true })
  readonly #compiled = new Map<object, ValidateFunction>()
  readonly #seen = new Set<string>()

  constructor(document: unknown) {
    const { paths } = document as Document
    this.#operations = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        method: method.toUpperCase(),
        pattern: new RegExp(`^${path.replace(/[.*+?()|[\]\\^$]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+')}$`),
        parameters: path.split('{').length - 1,
        name: `${method.toUpperCase()} ${path}`,
        operation,
      })),
    )
  }

  /** `METHOD path` of every operation of the document. */
  get operations(): readonly string[] {
    return this.#operations.map(({ name }) => name)
  }

  /** Those of which an answer was looked at. */
  get seen(): ReadonlySet<string> {
    return this.#seen
  }

  /** What the document does not say of this answer; empty = it is as described. `path` without the query. */
  problems(method: string, path: string, answer: { readonly status: number; readonly text: string }): string[] {
    const [known] = this.#operations
      .filter(operation => operation.method === method && operation.pattern.test(path))
      .sort((a, b) => a.parameters - b.parameters)
    if (!known) return answer.status === 404 ? [] : [`${method} ${path} is not in the document`]
    this.#seen.add(known.name)
    const described = known.operation.responses[answer.status]
    if (!described) return [`${known.name}: status ${answer.status} is not in the document`]
    const schema = described.content?.['application/json']?.schema
    if (schema) return this.#errors(known.name, schema, answer.text === '' ? '' : JSON.parse(answer.text))
    // Health, metrics and the like are described in words only.
    const isDescribed = path.startsWith('/kafka/')
    return isDescribed && answer.text !== '' ? [`${known.name}: a body that the document does not describe`] : []
  }

  #errors(name: string, schema: object, value: unknown): string[] {
    let validate = this.#compiled.get(schema)
    if (!validate) {
      validate = this.#ajv.compile(schema)
      this.#compiled.set(schema, validate)
    }
    validate(value)
    return (validate.errors ?? []).map(error => `${name}: ${error.instancePath || 'the body'} ${error.message}`)
  }
}
