/** `partition.metadata`: which topic id a log directory belongs to; recovery and the log store read and write it. */
import { isUuid, type Uuid, ZERO_UUID } from '../core/uuid.ts'
import { PARTITION_METADATA } from './file-names.ts'
import { type FileSystem, loadText, saveFile } from './file-system.ts'

/** The topic id, undefined if the file is missing or damaged. */
export async function loadPartitionMetadata(fs: FileSystem, directory: string): Promise<Uuid | undefined> {
  const text = await loadText(fs, `${directory}/${PARTITION_METADATA}`)
  const id = /^version: 0\ntopic_id: (\S+)\s*$/.exec(text ?? '')?.[1]
  return id !== undefined && isUuid(id) && id !== ZERO_UUID ? id : undefined
}

export const savePartitionMetadata = (fs: FileSystem, directory: string, topicId: Uuid): Promise<void> =>
  saveFile(fs, `${directory}/${PARTITION_METADATA}`, `version: 0\ntopic_id: ${topicId}`)
