/** Requests about several things of which a joined node judges some itself and passes the others on to the controller. Rows of the joined table. */
import type { IncomingRequest } from '../../network/request-handler.ts'
import type { Api } from '../../protocol/schema/message.ts'
import { type BrokerContext, CloseConnection, type Handler } from '../handler.ts'
import { forwarded, forwardOrRefuse } from './forwarded-handlers.ts'

/** How such a request and its answer are taken apart and put together. */
export interface Division<Q, I, A, R> {
  readonly items: (request: Q) => readonly I[]
  readonly requestOf: (whole: Q, items: readonly I[]) => Q
  readonly answers: (response: R) => readonly A[]
  readonly responseOf: (answers: readonly A[]) => R
  /** Is the item judged by the row's own handler here? */
  readonly isJudgedHere: (broker: BrokerContext, item: I, request: Q) => boolean
}

/** As `forwarded`, but for the items that are judged here. One answer holds all. */
export const partlyForwarded = <Q, I, A, R>(
  row: Handler,
  api: Api<Q, Q, R, R>,
  division: Division<Q, I, A, R>,
): Handler => ({
  ...forwarded(row),
  answer: async (broker, request, client) => {
    const version = request.apiVersion
    const whole = decodedRequest(api, request)
    const items = division.items(whole)
    const isHere = items.map(item => division.isJudgedHere(broker, item, whole))
    const here = items.filter((_, index) => isHere[index])
    if (here.length === 0) return forwardOrRefuse(broker, { row, request }, client)
    if (here.length === items.length) return row.answer(broker, request, client)
    const part = (some: readonly I[]) => ({
      ...request,
      body: api.request.encode(division.requestOf(whole, some), version),
    })
    const there = items.filter((_, index) => !isHere[index])
    const parts = await Promise.all([
      row.answer(broker, part(here), client),
      forwardOrRefuse(broker, { row, request: part(there) }, client),
    ])
    const answers = parts.flatMap(chunks =>
      division.answers(api.response.decode(Buffer.concat([...(chunks ?? [])]), version)),
    )
    return api.response.encodeChunks(division.responseOf(answers), version)
  },
})

function decodedRequest<Q, R>(api: Api<Q, Q, R, R>, request: IncomingRequest): Q {
  try {
    return api.request.decode(request.body, request.apiVersion)
  } catch (error) {
    throw new CloseConnection(`${api.name} cannot be read: ${String(error)}`)
  }
}
