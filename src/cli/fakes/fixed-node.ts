/** A node that gives the same answers for ever; the golden tests run the command line against it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FIXED_CLUSTER } from './fixed-cluster.ts'
import { FIXED_EVENTS } from './fixed-events.ts'
import { FIXED_LINKS } from './fixed-links.ts'
import { FIXED_MIRRORS } from './fixed-mirrors.ts'

const CLUSTER = '/kafka/v3/clusters/fixed'

/** By method and path below the cluster; a query parameter may follow. */
const FIXED_ANSWERS: Readonly<Record<string, unknown>> = { ...FIXED_LINKS, ...FIXED_MIRRORS, ...FIXED_CLUSTER }

export interface FixedNode {
  readonly url: string
  /** Requests so far: method, path below the cluster, query, body. */
  readonly requests: { readonly request: string; readonly query: string; readonly body: unknown }[]
  close(): Promise<void>
}

export async function startFixedNode(): Promise<FixedNode> {
  const requests: FixedNode['requests'] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const { pathname, search } = new URL(request.url ?? '', 'http://node')
    const asked = `${request.method} ${decodeURIComponent(pathname.replace(CLUSTER, ''))}`
    requests.push({ request: asked, query: search, body: text === '' ? undefined : JSON.parse(text) })
    answer(request, response, { asked, search })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { asked, search }: { asked: string; search: string },
): void {
  if (asked === 'GET /kafka/v3/clusters') return json(response, 200, { data: [{ cluster_id: 'fixed' }] })
  if (asked === 'GET /events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(FIXED_EVENTS)
    return
  }
  const exact = [...new URLSearchParams(search)].map(([name, value]) => `${asked}?${name}=${value}`)
  const key = [...exact, asked].find(each => each in FIXED_ANSWERS)
  if (key !== undefined) return json(response, 200, FIXED_ANSWERS[key])
  const link = /^\w+ \/links\/([^/:]+)/.exec(asked)?.[1]
  if (link !== undefined && link !== 'west')
    return json(response, 404, { error_code: 40403, message: `The cluster link doesn't exist: '${link}'.` })
  json(response, 404, {
    error_code: 40403,
    message: `no resource at ${request.method} ${asked}`,
    hint: 'look at /openapi.json',
  })
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(body === undefined ? '' : JSON.stringify(body))
}
