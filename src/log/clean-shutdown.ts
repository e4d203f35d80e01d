/** `.kafka_cleanshutdown`: there only between a clean stop and the next start; LogStore reads and writes it. */
import { type FileSystem, loadText, saveFile } from './file-system.ts'

/** undefined if the last stop was not clean. `brokerEpoch` is undefined if the marker does not say. */
export async function loadCleanShutdown(
  fs: FileSystem,
  directory: string,
): Promise<{ brokerEpoch: number | undefined } | undefined> {
  const text = await loadText(fs, pathIn(directory))
  if (text === undefined) return undefined
  // Kafka before 3.7 leaves an empty file.
  const epoch = /"brokerEpoch"\s*:\s*(\d+)/.exec(text)?.[1]
  return { brokerEpoch: epoch === undefined ? undefined : Number(epoch) }
}

/** Durable: a crash from now on must not look like a clean stop. */
export async function removeCleanShutdown(fs: FileSystem, directory: string): Promise<void> {
  await fs.remove(pathIn(directory))
  await fs.syncDirectory(directory)
}

export const saveCleanShutdown = (fs: FileSystem, directory: string, brokerEpoch: number): Promise<void> =>
  saveFile(fs, pathIn(directory), JSON.stringify({ version: 0, brokerEpoch }))

const pathIn = (directory: string) => `${directory}/.kafka_cleanshutdown`
