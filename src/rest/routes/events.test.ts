/** Events over a real connection: types, resumption, filters, bounds, rights. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { test } from 'node:test'
import { Value } from 'typebox/value'
import type { LinkEngineEvent as EngineEvent } from '../../link/engine-api.ts'
import type { RestContext } from '../context.ts'
import { FAKE_CLUSTER_ID, FakeEngine, fakeContext } from '../fakes/fake-engine.ts'
import { noLogin } from '../ports.ts'
import { LinkEngineEvent } from '../schemas/events.ts'
import { buildRestApplication } from '../server.ts'

const PATH = `/kafka/v3/clusters/${FAKE_CLUSTER_ID}/events`

async function withApp(change: Parameters<typeof fakeContext>[1] = {}) {
  const engine = new FakeEngine()
  const app = await buildRestApplication(fakeContext(engine, change))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { engine, url, [Symbol.asyncDispose]: () => app.close() }
}

interface Reading {
  readonly begun?: () => void
  readonly headers?: Record<string, string>
}

/** Reads events until `count` are there, and goes away. */
async function read(url: string, count: number, { begun = () => {}, headers = {} }: Reading = {}) {
  const call = request(url, { headers, agent: false })
  call.end()
  const [answer] = await once(call, 'response')
  strictEqual(answer.statusCode, 200)
  match(answer.headers['content-type'], /text\/event-stream/)
  begun()
  let text = ''
  const events = () =>
    text
      .split('\n\n')
      .slice(0, -1)
      .filter(part => /^(id|event): /.test(part))
  for await (const chunk of answer) {
    text += chunk
    if (events().length >= count) break
  }
  call.destroy()
  return events().map(part => {
    const [, id] = /^id: (.*)$/m.exec(part) ?? []
    const [, type] = /^event: (.*)$/m.exec(part) ?? []
    const data = JSON.parse(/^data: (.*)$/m.exec(part)?.[1] ?? '')
    deepStrictEqual([...Value.Errors(LinkEngineEvent, data)], [])
    return { id, type, data }
  })
}

const common = { timeMs: 1, linkName: 'west' }
const state: EngineEvent = {
  ...{ type: 'state', ...common, mirrorTopicName: 'orders', status: 'PAUSED', previousStatus: 'ACTIVE' },
  ...{ event: 'pause', reason: 'asked for' },
}
const task = {
  name: 'AclSync',
  state: 'IN_ERROR',
  errors: [{ code: 'INTERNAL_ERROR', message: 'why' }],
  lastSuccessMs: null,
}
const link: EngineEvent = { type: 'link', ...common, state: 'FAILED', error: 'TLS_ERROR', errorMessage: 'why' }
const lag: EngineEvent = {
  ...{ type: 'lag', ...common, lagMax: 5, lagMsMax: null, mirroredBytes: 0 },
  topics: [{ mirrorTopicName: 'orders', lagMax: 5, lagTotal: 9, lagMs: null }],
}

test('events come with type, id and data, samples without an id', async () => {
  await using scene = await withApp()
  const events = await read(scene.url + PATH, 4, {
    begun: () => {
      scene.engine.events.add(state)
      scene.engine.events.add({ type: 'task', ...common, task })
      scene.engine.events.tell(lag)
      scene.engine.events.add(link)
    },
  })
  deepStrictEqual(
    events.map(({ id, type, data }) => [id, type, data.type]),
    [
      ['run-1', 'state', 'state'],
      ['run-2', 'task', 'task'],
      [undefined, 'lag', 'lag'],
      ['run-3', 'link', 'link'],
    ],
  )
})

test('Last-Event-ID resumes behind it, and says so where that is not possible', async () => {
  await using scene = await withApp()
  for (let index = 0; index < 3; index++) scene.engine.events.add(state)
  const resumed = await read(scene.url + PATH, 2, { headers: { 'last-event-id': 'run-1' } })
  deepStrictEqual(
    resumed.map(({ id }) => id),
    ['run-2', 'run-3'],
  )
  const [first] = await read(scene.url + PATH, 1, { headers: { 'last-event-id': 'earlier-1' } })
  strictEqual(first?.type, 'missed')
})

test('a listener may ask for one link and for some types', async () => {
  await using scene = await withApp()
  const events = await read(`${scene.url}${PATH}?link_name=west&types=link,lag`, 1, {
    begun: () => {
      scene.engine.events.add(state)
      scene.engine.events.add({ ...link, linkName: 'east' })
      scene.engine.events.add(link)
    },
  })
  deepStrictEqual(
    events.map(({ id }) => id),
    ['run-3'],
  )
})

test('a reader that does not read is cut off instead of filling the memory', async () => {
  await using scene = await withApp()
  const call = request(scene.url + PATH, { agent: false })
  call.end()
  const [answer] = await once(call, 'response')
  answer.pause()
  const closed = new Promise(resolve => answer.on('close', resolve))
  answer.on('error', () => {})
  const large: EngineEvent = { ...link, errorMessage: 'x'.repeat(100_000) }
  // Sockets take some of it; whatever is beyond a megabyte ends the stream.
  for (let index = 0; index < 1000 && scene.engine.events.hasListeners; index++) {
    scene.engine.events.add(large)
    await new Promise(resolve => setImmediate(resolve))
  }
  strictEqual(scene.engine.events.hasListeners, false)
  answer.resume()
  await closed
})

test('whoever may not describe the cluster hears nothing', async () => {
  const firstDenied = () => ({ operation: 'describe', resource: 'cluster', name: 'kafka-cluster' }) as const
  await using scene = await withApp({ access: { firstDenied } })
  strictEqual((await fetch(scene.url + PATH)).status, 403)
})

test('a client that went away while it was asked who it is leaves no listener behind', async () => {
  const asked = Promise.withResolvers<void>()
  const identify: RestContext['login']['identify'] = async ({ socket }) => {
    asked.resolve()
    await once(socket, 'close')
    return { kind: 'anonymous' }
  }
  await using scene = await withApp({ login: { ...noLogin, identify } })
  const { events } = scene.engine
  const subscribed = Promise.withResolvers<void>()
  const subscribe = events.subscribe.bind(events)
  events.subscribe = (...given) => {
    subscribed.resolve()
    return subscribe(...given)
  }
  const call = request(scene.url + PATH, { agent: false })
  call.on('error', () => {})
  call.end()
  await asked.promise
  call.destroy()
  await subscribed.promise
  await new Promise(resolve => setImmediate(resolve))
  strictEqual(events.hasListeners, false)
})

// It was cut off for what it had not had the time to read, came back for the same, and so on for ever.
test('whoever comes back gets all that is kept, however large', async () => {
  await using scene = await withApp()
  const large: EngineEvent = { ...link, errorMessage: 'x'.repeat(200_000) }
  for (let index = 0; index < 30; index++) scene.engine.events.add(large)
  const events = await read(scene.url + PATH, 30, { headers: { 'last-event-id': 'run-0' } })
  strictEqual(events.at(-1)?.id, 'run-30')
})

test('whoever asks for the history gets what is kept first, and resumes behind it all the same', async () => {
  await using scene = await withApp()
  for (let index = 0; index < 3; index++) scene.engine.events.add(state)
  const all = await read(`${scene.url}${PATH}?history=true`, 3)
  deepStrictEqual(
    all.map(({ id }) => id),
    ['run-1', 'run-2', 'run-3'],
  )
  const [last] = await read(`${scene.url}${PATH}?history=true`, 1, { headers: { 'last-event-id': 'run-2' } })
  strictEqual(last?.id, 'run-3')
})

test('samples of lags name all topics, those that have changed, or none, as a listener asks', async () => {
  await using scene = await withApp()
  const [orders] = lag.type === 'lag' ? lag.topics : []
  const other = { mirrorTopicName: 'other', lagMax: 1, lagTotal: 1, lagMs: 1 }
  const topicsOf = async (asked: string) => {
    const events = await read(`${scene.url}${PATH}${asked}`, 2, {
      begun: () => {
        for (const lagMax of [5, 6])
          scene.engine.events.tell({
            ...lag,
            topics: [...(orders ? [{ ...orders, lagMax }] : []), other],
          } as EngineEvent)
      },
    })
    return events.map(({ data }) => data.topics.map((topic: { mirror_topic_name: string }) => topic.mirror_topic_name))
  }
  const both = ['orders', 'other']
  deepStrictEqual(await topicsOf(''), [both, both])
  deepStrictEqual(await topicsOf('?lag_topics=changed'), [both, ['orders']])
  deepStrictEqual(await topicsOf('?lag_topics=none'), [[], []])
})
