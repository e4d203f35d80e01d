/** What a joined node gives its replicas: the way to other brokers and to the controller; and what it sets about replication. */
import { effectiveBrokerConfig } from '../metadata/config-resolution.ts'
import type { Controller } from '../metadata/controller-port.ts'
import type { BrokerConnections } from './broker-connections.ts'
import type { FollowLimits } from './following/follow-request.ts'

export interface ReplicaPeers {
  readonly connections: Pick<BrokerConnections, 'open'>
  readonly alterPartition: Controller['alterPartition']
  /** Of our registration; it changes with every new one. */
  readonly brokerEpoch: () => number
}

export interface ReplicationSettings {
  readonly lagTimeMaxMs: number
  readonly backoffMs: number
  readonly limits: FollowLimits
}

/** `replica.*` of the server's properties. */
export function replicationSettings(file: ReadonlyMap<string, string>): ReplicationSettings {
  const layers = { topic: new Map(), broker: new Map(), defaultBroker: new Map(), file }
  const number = (name: string): number => Number(effectiveBrokerConfig(name, layers))
  return {
    lagTimeMaxMs: number('replica.lag.time.max.ms'),
    backoffMs: number('replica.fetch.backoff.ms'),
    limits: {
      waitMs: number('replica.fetch.wait.max.ms'),
      bytesMin: number('replica.fetch.min.bytes'),
      partitionBytesMax: number('replica.fetch.max.bytes'),
      answerBytesMax: number('replica.fetch.response.max.bytes'),
    },
  }
}
