// The repository's .cache folder for what tests provision once (jars, compiled Java, a Python venv); used by test/.
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually } from './eventually.ts'

/** Root of the clone. */
export const repositoryRoot = fileURLToPath(new URL('..', import.meta.url))

const cacheRoot = join(repositoryRoot, '.cache')

/**
 * Path of the cached folder `name`, filled by `build` into a fresh folder the first time. The folder appears whole or
 * not at all, and several test processes that ask at once wait for the first one. `relocatable: false` says that the
 * content knows its own path, so `build` is given the final one, and a marker file tells that it is complete. Folders
 * with the same `lock` (default: a lock of their own) are built one after the other.
 */
export async function cached(
  name: string,
  build: (folder: string) => Promise<void>,
  { relocatable = true, lock = name }: { relocatable?: boolean; lock?: string } = {},
): Promise<string> {
  const target = join(cacheRoot, name)
  const witness = relocatable ? target : join(target, '.complete')
  if (existsSync(witness)) return target
  await mkdir(dirname(target), { recursive: true })
  const release = await takeLock(join(cacheRoot, `${lock}.lock`))
  try {
    if (existsSync(witness)) return target
    if (!relocatable) {
      await rm(target, { recursive: true, force: true })
      await build(target)
      await (await open(witness, 'w')).close()
      return target
    }
    const folder = `${target}.${randomUUID().slice(0, 8)}`
    await mkdir(folder)
    try {
      await build(folder)
      await rename(folder, target)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
    return target
  } finally {
    await release()
  }
}

/** Takes a lock file with our pid in it; one whose process is gone is taken over. Only saves double work. */
async function takeLock(path: string): Promise<() => Promise<void>> {
  await eventually(() => tryLock(path), { timeoutMs: 600_000, intervalMs: 200 })
  return () => rm(path, { force: true })
}

async function tryLock(path: string): Promise<void> {
  try {
    const file = await open(path, 'wx')
    await file.writeFile(String(process.pid))
    await file.close()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    const owner = Number(await readFile(path, 'utf8').catch(() => ''))
    if (owner > 0 && !isAlive(owner)) await rm(path, { force: true })
    throw new Error(`${path} is held by process ${owner}`)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
