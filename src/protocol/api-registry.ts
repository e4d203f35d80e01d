/** Every Kafka API by its key; used by the client connection and the listener to find tables and header versions. */
import { apiList } from './messages/api-list.ts'
import type { Api } from './schema/message.ts'

/** An API whose message types are not known statically. */
export type AnyApi = Api<unknown, unknown, unknown, unknown>

const byKey = new Map<number, AnyApi>(apiList.map(api => [api.key, api as unknown as AnyApi]))

/** The API with that key, or undefined where Kafka 4.3 has none. */
export const apiOf = (key: number): AnyApi | undefined => byKey.get(key)

/** All APIs in the order of their keys. */
export const allApis: readonly AnyApi[] = [...byKey.values()]
