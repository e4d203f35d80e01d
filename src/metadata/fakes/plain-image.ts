/** An image as plain sorted data, for comparing images in tests. */
import { aclKey } from '../acl.ts'
import { AclIndex } from '../acl-index.ts'
import { AclResource } from '../authorizer.ts'
import type { MetadataImage } from '../metadata-image.ts'

const sorted = (map: ReadonlyMap<unknown, unknown>): unknown[] =>
  [...map].map(([key, value]): [string, unknown] => [String(key), plain(value)]).sort(([a], [b]) => (a < b ? -1 : 1))

function plain(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString('hex')
  if (value instanceof AclIndex) return plainIndex(value)
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Map) return sorted(value)
  if (value === null || typeof value !== 'object') return value
  if ('edit' in value) return sorted(value as unknown as ReadonlyMap<unknown, unknown>)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]))
}

const plainIndex = (index: AclIndex): unknown =>
  Object.values(AclResource)
    .flatMap(type => [...index.ofType(type)])
    .flatMap(({ byPrincipal }) => [...byPrincipal.values()].flat())
    .map(acl => `${acl.id} ${aclKey(acl)}`)
    .sort()

export const plainImage = (image: MetadataImage): unknown => plain(image)
