// TLS, SCRAM and the StandardAuthorizer for a Kafka cluster that a node joins, and the rights of that node; the destinations of scenarios stand on it.
import { strictEqual } from 'node:assert/strict'
import { CreateAclsApi } from '../../src/protocol/messages/30-create-acls.ts'
import type { ClientSecurity } from '../clients/client-record.ts'
import { askBroker } from '../clients/direct.ts'
import { eventually } from '../eventually.ts'
import { Credentials } from './credentials.ts'
import { SCRAM_USERS, scramLogin, securedNodeProperties, securedProperties } from './secured-cluster.ts'

export interface SecuredDestination {
  readonly brokers: { readonly properties: Readonly<Record<string, string>>; readonly format: readonly string[] }
  readonly node: Readonly<Record<string, string>>
  /** Of clients that may do everything. */
  readonly login: ClientSecurity
  /** Gives the node its rights, before it joins; asked of one broker. */
  readonly grantNode: (address: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** What docs/joining.md lists, for mirrors and groups of any name: `[resource type, name, pattern type, operations]`. */
const NODE_RIGHTS = [
  // CLUSTER_ACTION, ALTER, DESCRIBE, IDEMPOTENT_WRITE
  [4, 'kafka-cluster', 3, [9, 7, 8, 12]],
  // CREATE, ALTER_CONFIGS, ALTER, DESCRIBE, DESCRIBE_CONFIGS, READ, DELETE
  [2, '*', 3, [5, 11, 7, 8, 10, 3, 6]],
  // WRITE
  [2, '__lockstep', 4, [4]],
  // READ
  [3, '*', 3, [3]],
  // DESCRIBE
  [5, '__lockstep', 3, [8]],
] as const

export async function secureDestination(): Promise<SecuredDestination> {
  const credentials = await Credentials.make()
  return {
    brokers: { properties: securedProperties(credentials, { user: 'broker' }), format: SCRAM_USERS },
    node: securedNodeProperties(credentials, { user: 'lockstep' }),
    login: scramLogin(credentials, 'admin'),
    grantNode: address => eventually(() => grantNode(address, credentials)),
    close: () => credentials.close(),
  }
}

function grantNode(address: string, credentials: Credentials): Promise<void> {
  const creations = NODE_RIGHTS.flatMap(([resourceType, resourceName, resourcePatternType, operations]) =>
    operations.map(operation => ({
      ...{ resourceType, resourceName, resourcePatternType, operation },
      principal: 'User:lockstep',
      host: '*',
      permissionType: 3,
    })),
  )
  return askBroker(
    address,
    async connection => {
      const { response } = await connection.send(CreateAclsApi, { creations })
      for (const { errorCode, errorMessage } of response.results) strictEqual(errorCode, 0, errorMessage ?? '')
    },
    scramLogin(credentials, 'admin'),
  )
}
