/** The OpenAPI document against the routes that are served, in both directions, and against the specification. */
import { deepStrictEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import fastify from 'fastify'
import { FakeEngine, fakeContext } from './fakes/fake-engine.ts'
import { OpenApiAnswers } from './fakes/openapi-answers.ts'
import { buildRestApplication, restRoutes } from './server.ts'

async function documentOf(): Promise<Record<string, unknown>> {
  const app = await buildRestApplication(fakeContext(new FakeEngine()))
  try {
    return structuredClone(app.swagger()) as unknown as Record<string, unknown>
  } finally {
    await app.close()
  }
}

/** `METHOD path` of everything that is registered, parameters in braces. */
async function servedRoutes(): Promise<string[]> {
  const app = fastify()
  const served: string[] = []
  app.addHook('onRoute', ({ method, url }) => {
    const path = url
      .replace(/\(\^[^)]*\)/g, '')
      .replace(/::/g, '\0')
      .replace(/:(\w+)/g, '{$1}')
      .replace(/\0/g, ':')
    for (const one of [method].flat()) if (one !== 'HEAD') served.push(`${one} ${path}`)
  })
  await app.register(async scope => restRoutes(scope, fakeContext(new FakeEngine())))
  await app.ready()
  await app.close()
  return served
}

test('the OpenAPI document is valid, and describes exactly the routes that are served', async () => {
  const document = await documentOf()
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  deepStrictEqual([valid, errors], [true, undefined])
  const described = new OpenApiAnswers(document).operations
  deepStrictEqual([...described].sort(), (await servedRoutes()).sort())
})

test('an answer without a body has none in the document, and every status has a name', async () => {
  const { paths } = (await documentOf()) as { paths: Record<string, Record<string, { responses: object }>> }
  const answers = Object.values(paths).flatMap(operations =>
    Object.values(operations).flatMap(({ responses }) => Object.entries(responses)),
  ) as [string, { description: string; content?: object }][]
  ok(answers.some(([status]) => status === '204'))
  for (const [status, { description, content }] of answers) {
    ok(description !== 'Default Response' && description !== '')
    if (status === '204') deepStrictEqual(content, undefined)
  }
})
