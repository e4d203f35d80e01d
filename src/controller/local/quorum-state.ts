/** Kafka's `quorum-state` file of a quorum of one: the epoch that this node leads in. Called by the local controller at start. */
import { join } from 'node:path'
import { type FileSystem, loadText, saveFile } from '../../log/file-system.ts'

const FILE = 'quorum-state'

/** Epoch that the file names; 0 if there is none or it is not readable (the log's own epochs then decide). */
export async function loadLeaderEpoch(fs: FileSystem, directory: string): Promise<number> {
  const text = await loadText(fs, join(directory, FILE))
  if (text === undefined) return 0
  try {
    const state: unknown = JSON.parse(text)
    if (typeof state !== 'object' || state === null || !('leaderEpoch' in state)) return 0
    return Number.isInteger(state.leaderEpoch) ? Number(state.leaderEpoch) : 0
  } catch {
    return 0
  }
}

/** Durable when it resolves: an epoch is never led twice. */
export async function saveLeaderEpoch(
  fs: FileSystem,
  directory: string,
  state: { readonly nodeId: number; readonly leaderEpoch: number },
): Promise<void> {
  const contents = {
    clusterId: '',
    leaderId: state.nodeId,
    leaderEpoch: state.leaderEpoch,
    votedId: -1,
    appliedOffset: 0,
    currentVoters: [{ voterId: state.nodeId }],
    data_version: 0,
  }
  await saveFile(fs, join(directory, FILE), JSON.stringify(contents))
}
