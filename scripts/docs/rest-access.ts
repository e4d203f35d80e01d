/** docs/generated/rest-access.md: what each route of REST needs, found out by asking each route with an access port that writes down what it is asked. */
import type { FastifyInstance, InjectOptions } from 'fastify'
import { FAKE_CLUSTER_ID, FakeEngine, fakeContext } from '../../src/rest/fakes/fake-engine.ts'
import { isOpenPath } from '../../src/rest/login.ts'
import { type Need, noLogin } from '../../src/rest/ports.ts'
import { buildRestApplication } from '../../src/rest/server.ts'
import { code, type Page, table } from './markdown.ts'

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly type?: string
  readonly items?: Schema
}

interface Operation {
  readonly parameters?: readonly {
    readonly in: string
    readonly name: string
    readonly required?: boolean
    readonly schema?: { readonly pattern?: string }
  }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

/** The page. */
export async function restAccessPage(): Promise<Page> {
  const asked: Need[] = []
  const access = {
    firstDenied(_client: unknown, needs: readonly Need[]) {
      asked.push(...needs)
      return undefined
    },
  }
  const app = await buildRestApplication(
    fakeContext(new FakeEngine(), { access, login: { ...noLogin, metricsOpen: false } }),
  )
  const rows: string[][] = []
  try {
    for (const { method, path, operation } of routesOf(app)) {
      const cells: string[] = []
      for (const payload of bodiesOf(operation)) {
        asked.length = 0
        // Some answers have no end: their beginning is enough.
        const url = urlOf(path, operation)
        const answer = await app.inject({ method, url, payloadAsStream: true, ...(payload ? { payload } : {}) })
        answer.stream().destroy()
        cells.push([...new Set(asked.map(textOf))].join(', ') || 'a login')
      }
      rows.push([method, code(path), isOpenPath(path) ? 'nothing, not even a login' : cells.join('; or ')])
    }
  } finally {
    await app.close()
  }
  return {
    name: 'rest-access.md',
    title: 'Who may call what',
    sources: ['src/rest/routes'],
    body: [
      'What the caller of a route needs, as ACLs of Kafka say it. Names in braces are those of the path or of the body; for a batch every named topic is asked about; what is needed where a pattern selects them comes after "or". Without an authorizer whoever logs in may do everything.',
      table(['method', 'path', 'needs'], rows),
    ].join('\n\n'),
  }
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

function routesOf(app: FastifyInstance): { method: (typeof METHODS)[number]; path: string; operation: Operation }[] {
  const paths = app.swagger().paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>
  // A verb behind a name is told as a parameter.
  const told = Object.entries(paths).map(([path, found]) => [path.replace(/:\{(\w+)\}/g, ':$1'), found] as const)
  return told.flatMap(([path, operations]) =>
    METHODS.flatMap(method => {
      const operation = operations[method.toLowerCase()]
      return operation ? [{ method, path, operation }] : []
    }),
  )
}

/** Parameters stand for themselves, in braces, but for those that have to be numbers. */
function urlOf(path: string, { parameters = [] }: Operation): string {
  const isNumber = (name: string) =>
    parameters.some(parameter => parameter.name === name && parameter.schema?.pattern?.includes('0-9'))
  const filled = path.replace(/\{(\w+)\}/g, (whole, name: string) =>
    name === 'cluster_id' ? FAKE_CLUSTER_ID : isNumber(name) ? '0' : encodeURIComponent(whole),
  )
  const query = parameters.filter(({ in: place, required }) => place === 'query' && required)
  return `${filled}?${query.map(({ name }) => `${name}=${encodeURIComponent(`{${name}}`)}`).join('&')}`
}

/** A body with what is required; where topics are named or selected, one of each. */
function bodiesOf({ requestBody }: Operation): (NonNullable<InjectOptions['payload']> | undefined)[] {
  const schema = requestBody?.content['application/json']?.schema
  if (!schema) return [undefined]
  const selections = ['mirror_topic_names', 'mirror_topic_name_pattern'].filter(name => schema.properties?.[name])
  const required = Object.fromEntries(
    (schema.required ?? []).map(name => [name, sampleOf(schema.properties?.[name] ?? {}, name)]),
  )
  if (selections.length === 0) return [required]
  return selections.map(name => ({ ...required, [name]: name.endsWith('s') ? [`{${name}}`] : '.*' }))
}

const sampleOf = (schema: Schema, name: string): unknown =>
  schema.type === 'array' ? [] : schema.type === 'integer' ? 1 : `{${name}}`

const textOf = ({ operation, resource, name }: Need): string =>
  `${operation.toUpperCase()} on ${resource}${resource === 'cluster' ? '' : ` ${code(name)}`}`
