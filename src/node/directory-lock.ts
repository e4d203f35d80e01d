/** One node per data directory: a `.lock` file that names the process which holds it. Taken over when that process is gone. */
import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Locks the directory (created if absent); resolves to the function that unlocks it. Rejects if another process holds it. */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  await mkdir(directory, { recursive: true })
  const path = join(directory, '.lock')
  const own = await identityOf(process.pid)
  for (;;) {
    try {
      const file = await open(path, 'wx')
      await file.writeFile(own)
      await file.close()
      return () => rm(path, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const holder = await readFile(path, 'utf8').catch(() => '')
    const pid = Number(holder.split(' ')[0])
    if (pid > 0 && isAlive(pid) && (await identityOf(pid)) === holder)
      throw new Error(`the data directory ${directory} is in use by process ${pid}`)
    await rm(path, { force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Process id and, where the system tells it, the time of its start: process ids are used again. A zombie holds nothing. */
async function identityOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' ? `${pid} ended` : `${pid} ${fields[19] ?? ''}`
}
