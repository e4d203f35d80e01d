/** AlterConfigs and IncrementalAlterConfigs of a joined node: passed on to the controller, but for what is this process's own. Rows of the joined table. */
import { ConfigResourceType } from '../../metadata/metadata-image.ts'
import type { IncomingRequest } from '../../network/request-handler.ts'
import type { Api } from '../../protocol/schema/message.ts'
import { type BrokerContext, CloseConnection, type Handler } from '../handler.ts'
import { forwarded, forwardOrRefuse } from './forwarded-handlers.ts'

interface AlteredResource {
  readonly resourceType: number
  readonly resourceName: string
}

/** What the APIs of config changes have in common. */
type AlterationsApi<S extends AlteredResource, A> = Api<
  { readonly resources: readonly S[] },
  { readonly resources: readonly S[] },
  { readonly responses: readonly A[] },
  { readonly throttleTimeMs: number; readonly responses: readonly A[] }
>

/** As `forwarded`, but what concerns only this process (its loggers), or another broker's, is judged here. */
export const forwardedAlterations = <S extends AlteredResource, A>(
  row: Handler,
  api: AlterationsApi<S, A>,
): Handler => ({
  ...forwarded(row),
  answer: alterationsOf(row, api),
})

function alterationsOf<S extends AlteredResource, A>(row: Handler, api: AlterationsApi<S, A>): Handler['answer'] {
  return async (broker, request, client) => {
    const version = request.apiVersion
    const whole = decodedAlterations(api, request)
    const here = whole.resources.filter(resource => isJudgedHere(broker, resource))
    if (here.length === 0) return forwardOrRefuse(broker, { row, request }, client)
    if (here.length === whole.resources.length) return row.answer(broker, request, client)
    const part = (resources: readonly S[]) => ({
      ...request,
      body: api.request.encode({ ...whole, resources }, version),
    })
    const there = whole.resources.filter(resource => !isJudgedHere(broker, resource))
    const answers = await Promise.all([
      row.answer(broker, part(here), client),
      forwardOrRefuse(broker, { row, request: part(there) }, client),
    ])
    const responses = answers.flatMap(chunks => [
      ...api.response.decode(Buffer.concat([...(chunks ?? [])]), version).responses,
    ])
    return api.response.encodeChunks({ throttleTimeMs: 0, responses }, version)
  }
}

function decodedAlterations<S extends AlteredResource, A>(api: AlterationsApi<S, A>, request: IncomingRequest) {
  try {
    return api.request.decode(request.body, request.apiVersion)
  } catch (error) {
    throw new CloseConnection(`${api.name} cannot be read: ${String(error)}`)
  }
}

function isJudgedHere({ brokerId }: BrokerContext, { resourceType, resourceName }: AlteredResource): boolean {
  if (resourceType === ConfigResourceType.BROKER_LOGGER) return true
  return resourceType === ConfigResourceType.BROKER && resourceName !== '' && resourceName !== String(brokerId)
}
