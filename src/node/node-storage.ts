/** Opens what a node keeps on disk: its directories, locked, and the logs of its partitions; both kinds of node begin with it. */

import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { randomUuid, type Uuid } from '../core/uuid.ts'
import { stateTopicName } from '../destination/state-topic.ts'
import { LogStore } from '../log/log-store.ts'
import { loadMetaProperties } from '../log/meta-properties.ts'
import type { NodeFileSystem } from '../log/node-file-system.ts'
import { CLUSTER_METADATA_TOPIC } from '../metadata/topic-names.ts'
import type { ReplicaPeers } from '../replica/replica-peers.ts'
import { ReplicaSet } from '../replica/replica-set.ts'
import { lockDirectory } from './directory-lock.ts'
import type { NodeSettings } from './settings.ts'
import type { Startup } from './startup.ts'

/** Of the file system and the settings of a node. */
export interface StorageOptions {
  readonly settings: NodeSettings
  readonly fs: NodeFileSystem
  readonly clock: Clock
  readonly logger: Logger
}

/** Nobody else may use the directories until the node has stopped. */
export async function lockDirectories(directories: Iterable<string>, startup: Startup): Promise<void> {
  for (const directory of new Set(directories)) {
    const unlock = await lockDirectory(directory)
    startup.onStop(`lock of ${directory}`, unlock)
  }
}

/** The id of the settings, or of the data directory; undefined if there is none yet. */
export async function knownClusterId({
  settings,
  fs,
}: Pick<StorageOptions, 'settings' | 'fs'>): Promise<Uuid | undefined> {
  const known = await loadMetaProperties(fs, settings.dataDirectory)
  return settings.clusterId ?? (known?.clusterId as Uuid | undefined)
}

/** `closed` is told whether every log was flushed and closed. */
export async function openStore(
  { settings, fs, clock, logger }: StorageOptions,
  startup: Startup,
  closed: (outcome: { readonly clean: boolean }) => void = () => {},
): Promise<LogStore> {
  const clusterId = (await knownClusterId({ settings, fs })) ?? randomUuid()
  const store = await LogStore.open({
    directory: settings.dataDirectory,
    identity: { clusterId, nodeId: settings.nodeId },
    foreignTopics: [CLUSTER_METADATA_TOPIC],
    clock,
    logger,
    fs,
  })
  startup.onStop('log store', async () => closed(await store.close()))
  return store
}

/** To be subscribed to the controller before everything else. `peers` of a joined node. */
export function makeReplicas(
  {
    settings,
    store,
    peers,
    clock,
    logger,
  }: Omit<StorageOptions, 'fs'> & { readonly store: LogStore; readonly peers?: ReplicaPeers },
  startup: Startup,
): ReplicaSet {
  const replicas = new ReplicaSet({
    brokerId: settings.nodeId,
    logs: store,
    file: settings.kafka,
    refusesDamage: topic => topic === stateTopicName,
    ...(peers ? { peers } : {}),
    clock,
    logger,
  })
  startup.onStop('replicas', () => replicas.close())
  return replicas
}
