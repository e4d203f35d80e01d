/** The OpenAPI document: what the schemas of the routes do not say by themselves. The server gives it to the generator. */
import { STATUS_CODES } from 'node:http'
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'

/** Options of the generator. */
export const openApiOptions = (version: string): FastifyDynamicSwaggerOptions => ({
  openapi: {
    openapi: '3.1.0',
    info: { title: 'Lockstep REST API', version, license: { name: 'Apache-2.0' } },
  },
  transformObject(generated) {
    if (!('openapiObject' in generated)) throw new TypeError('the document is not OpenAPI 3')
    const { openapiObject: document } = generated
    for (const path of Object.values(document.paths ?? {}))
      for (const operation of Object.values(path ?? {}))
        if (isOperation(operation)) describeAnswers(operation.responses)
    return document
  },
})

interface Answer {
  description?: string
  content?: Record<string, { schema?: { type?: string } }>
}

const isOperation = (value: unknown): value is { responses: Record<string, Answer> } =>
  typeof value === 'object' && value !== null && 'responses' in value

/** Each status has a name; an answer whose schema is null has no body. */
function describeAnswers(answers: Record<string, Answer>): void {
  for (const [status, answer] of Object.entries(answers)) {
    answer.description = STATUS_CODES[status] ?? 'Answer'
    if (answer.content?.['application/json']?.schema?.type === 'null') delete answer.content
  }
}
