/** The two brokers that are compared, each a process of its own, and what a measurement needs of them; bench/broker.ts starts them. */
import { freePorts } from '../../test/free-port.ts'
import { KafkaCluster } from '../../test/kafka/cluster.ts'
import { LockstepNode } from '../../test/lockstep-process.ts'
import type { Opened } from '../../test/opened.ts'
import { Credentials } from '../../test/security/credentials.ts'
import { ClusterClient } from '../mirror/cluster-client.ts'
import { cpuSecondsOf } from '../mirror/copy-rate.ts'
import type { Access, Transport } from './access.ts'
import { jvmArguments, KAFKA_VERSION } from './kafka-tools.ts'

export type SideName = 'Kafka' | 'Lockstep'

/** One broker under test. */
export interface Side {
  readonly name: SideName
  readonly access: Readonly<Record<Transport, Access>>
  /** Without TLS. */
  readonly client: ClusterClient
  /** CPU time of the broker's process so far, all threads. */
  cpuSeconds(): number
}

/** As Kafka's start script sets a broker up. */
const KAFKA_HEAP = ['-Xms1G', '-Xmx1G']

/** `profileFolder`: where the Lockstep node leaves a CPU profile when it stops. */
export async function startSides(
  opened: Opened,
  profileFolder: string | undefined,
): Promise<{ sides: readonly Side[]; lockstep: LockstepNode }> {
  const options = profileFolder === undefined ? '' : `--cpu-prof --cpu-prof-dir=${profileFolder}`
  const credentials = await opened.add(Credentials.make())
  const [kafkaPort = 0, lockstepPort = 0] = await freePorts(2)
  const properties = tlsProperties(credentials)
  const [kafka, lockstep] = await opened.all<[KafkaCluster, LockstepNode]>([
    KafkaCluster.start({
      version: KAFKA_VERSION,
      jvmArguments: [...KAFKA_HEAP, ...jvmArguments],
      listeners: { TLS: kafkaPort },
      properties,
    }),
    LockstepNode.start({ env: { NODE_OPTIONS: options }, listeners: { TLS: lockstepPort }, properties }),
  ])
  const sideOf = async (
    name: SideName,
    at: { readonly bootstrap: string; readonly tlsPort: number },
    pid: () => number | undefined,
  ): Promise<Side> => ({
    name,
    access: {
      plaintext: { bootstrap: at.bootstrap, properties: {} },
      tls: { bootstrap: `127.0.0.1:${at.tlsPort}`, properties: trustOf(credentials) },
    },
    client: await opened.add(ClusterClient.connect(at.bootstrap)),
    cpuSeconds: () => cpuSecondsOf(pid() ?? 0),
  })
  const sides = await Promise.all([
    sideOf('Kafka', { bootstrap: kafka.bootstrap, tlsPort: kafkaPort }, () => kafka.brokers[0]?.pid),
    sideOf('Lockstep', { bootstrap: lockstep.bootstrap, tlsPort: lockstepPort }, () => lockstep.pid),
  ])
  return { sides, lockstep }
}

const tlsProperties = (credentials: Credentials): Readonly<Record<string, string>> => ({
  'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,TLS:SSL',
  'listener.name.tls.ssl.keystore.type': 'PEM',
  'listener.name.tls.ssl.keystore.location': credentials.file('host.pem'),
})

const trustOf = (credentials: Credentials): Readonly<Record<string, string>> => ({
  'security.protocol': 'SSL',
  'ssl.truststore.type': 'PEM',
  'ssl.truststore.location': credentials.file('ca.pem'),
})
