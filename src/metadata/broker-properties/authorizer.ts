/** Properties of Kafka's StandardAuthorizer, which are not among those that Kafka's server defines itself; read by the catalog of broker configs. */
import type { KafkaProperty } from '../kafka-property.ts'

export const authorizerProperties: Readonly<Record<string, KafkaProperty>> = {
  'allow.everyone.if.no.acl.found': { type: 'boolean', default: 'false', internal: true },
  'super.users': { type: 'string', internal: true },
}
