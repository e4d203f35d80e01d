/** Shapes that every v3 resource shares: item and list envelopes, errors, path and query parts. */
import { type TProperties, Type } from 'typebox'

export const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()])

/** A link to another resource. */
export const Related = Type.Object({ related: Type.String() })

const ItemMetadata = Type.Object({ self: Type.String(), resource_name: nullable(Type.String()) })
const ListMetadata = Type.Object({
  self: Type.String(),
  next: nullable(Type.String()),
  resource_name: nullable(Type.String()),
})

/** `{kind, metadata, ...fields}` */
export const item = <K extends string, P extends TProperties>(kind: K, fields: P) =>
  Type.Object({ kind: Type.Literal(kind), metadata: ItemMetadata, ...fields })

/** `{kind: "...List", metadata, data: [...]}` */
export const list = <K extends string, T extends Parameters<typeof Type.Array>[0]>(kind: K, of: T) =>
  Type.Object({ kind: Type.Literal(kind), metadata: ListMetadata, data: Type.Array(of) })

export const ErrorBody = Type.Object({
  error_code: Type.Integer(),
  message: nullable(Type.String()),
  hint: Type.Optional(Type.String()),
})

/** Answers that every operation may give; 429 is one of ErrorBody, too, for clients that decode it. */
export const commonErrors = {
  400: ErrorBody,
  401: ErrorBody,
  403: ErrorBody,
  404: ErrorBody,
  408: ErrorBody,
  413: ErrorBody,
  415: ErrorBody,
  429: ErrorBody,
  500: ErrorBody,
  503: ErrorBody,
} as const

/** A yes or no in the query string. */
export const Flag = Type.Optional(Type.Union([Type.Literal('true'), Type.Literal('false')]))

/** Name/value pairs as in the bodies of creates; the value of a numeric config may come as a number. */
export const ConfigEntries = Type.Array(
  Type.Object({ name: Type.String(), value: Type.Optional(nullable(Type.String())) }, { additionalProperties: false }),
)

export const ClusterParams = Type.Object({ cluster_id: Type.String() })
export const LinkParams = Type.Object({ cluster_id: Type.String(), link_name: Type.String() })
export const LinkConfigParams = Type.Object({
  cluster_id: Type.String(),
  link_name: Type.String(),
  config_name: Type.String(),
})
export const MirrorParams = Type.Object({
  cluster_id: Type.String(),
  link_name: Type.String(),
  mirror_topic_name: Type.String(),
})
export const TopicParams = Type.Object({ cluster_id: Type.String(), topic_name: Type.String() })
export const GroupParams = Type.Object({ cluster_id: Type.String(), consumer_group_id: Type.String() })

/** A number in the path, as the text that paths are made of. */
export const PathNumber = Type.String({ pattern: '^[0-9]{1,10}$' })

/** The envelope of a list; lists are not paged. */
export function listOf<K extends string, T>(kind: K, self: string, data: T[]) {
  return { kind, metadata: { self, next: null, resource_name: null }, data }
}
