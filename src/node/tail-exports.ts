/** Keeps what restores cut off as files: segments as Kafka writes them, which its tools read too. Made by the composition root for the link engine. */
import { mkdir, open, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ExportedTail, TailExport, TailExports } from '../link/ports.ts'

export function tailExports(exportDirectory: string): TailExports {
  const pathOf = ({ topic, partition, baseOffset, timeMs }: ExportedTail) => {
    const when = new Date(timeMs).toISOString().replaceAll(/[:.]/g, '-')
    const name = `${String(baseOffset).padStart(20, '0')}.log`
    return join(exportDirectory, `${topic}-${when}`, String(partition), name)
  }
  return { pathOf, create: tail => createFile(pathOf(tail)) }
}

/** Under another name until it is whole. */
async function createFile(path: string): Promise<TailExport> {
  const directory = dirname(path)
  await mkdir(directory, { recursive: true })
  const unfinished = `${path}.part`
  const file = await open(unfinished, 'w')
  return {
    append: async batches => void (await file.write(batches)),
    close: async () => {
      await file.sync()
      await file.close()
      await rename(unfinished, path)
      await syncDirectory(directory)
    },
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  await directory.sync()
  await directory.close()
}
