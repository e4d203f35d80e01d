/** `meta.properties`: to which cluster and node a data directory belongs; LogStore reads and writes it. */
import { isUuid, randomUuid, type Uuid } from '../core/uuid.ts'
import { type FileSystem, loadText, saveFile } from './file-system.ts'
import { LogError } from './log-error.ts'

/** Version 1, the one of KRaft. */
export interface MetaProperties {
  readonly clusterId: string
  readonly nodeId: number
  /** This directory's own id: the cluster assigns replicas to it. */
  readonly directoryId: Uuid
}

const newMetaProperties = (identity: { clusterId: string; nodeId: number }): MetaProperties => ({
  ...identity,
  directoryId: randomUuid(),
})

/** undefined if there is none. Throws LogError 'identity' for one that cannot be read. */
export async function loadMetaProperties(fs: FileSystem, directory: string): Promise<MetaProperties | undefined> {
  const text = await loadText(fs, pathIn(directory))
  if (text === undefined) return undefined
  const properties = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const match = /^\s*([^#!\s=:][^\s=:]*)\s*[=:]\s*(.*?)\s*$/.exec(line)
    if (match) properties.set(match[1] ?? '', (match[2] ?? '').replace(/\\(.)/g, '$1'))
  }
  const clusterId = properties.get('cluster.id')
  const nodeId = Number(properties.get('node.id'))
  const directoryId = properties.get('directory.id') ?? ''
  if (
    properties.get('version') !== '1' ||
    !clusterId ||
    !Number.isInteger(nodeId) ||
    nodeId < 0 ||
    !isUuid(directoryId)
  )
    throw new LogError('identity', `${pathIn(directory)} is not a complete meta.properties of version 1`)
  return { clusterId, nodeId, directoryId }
}

function saveMetaProperties(fs: FileSystem, directory: string, meta: MetaProperties): Promise<void> {
  const lines = [
    '#',
    `cluster.id=${meta.clusterId}`,
    `directory.id=${meta.directoryId}`,
    `node.id=${meta.nodeId}`,
    'version=1',
  ]
  return saveFile(fs, pathIn(directory), `${lines.join('\n')}\n`)
}

/** What the directory says it is, or will say if it is new. Throws LogError 'identity' if it belongs to another cluster or node. */
export async function identifyDirectory(
  fs: FileSystem,
  { directory, identity }: { directory: string; identity: { clusterId: string; nodeId: number } },
): Promise<MetaProperties> {
  const found = await loadMetaProperties(fs, directory)
  if (!found) {
    const meta = newMetaProperties(identity)
    await saveMetaProperties(fs, directory, meta)
    return meta
  }
  if (found.clusterId !== identity.clusterId || found.nodeId !== identity.nodeId) {
    const message = `${directory} belongs to node ${found.nodeId} of cluster ${found.clusterId}, not to node ${identity.nodeId} of cluster ${identity.clusterId}`
    throw new LogError('identity', message)
  }
  return found
}

const pathIn = (directory: string) => `${directory}/meta.properties`
