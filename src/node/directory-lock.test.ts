/** One node per data directory. */
import { match, rejects } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { lockDirectory } from './directory-lock.ts'

test('a directory is held by one process until it is unlocked', async () => {
  const directory = join(await mkdtemp(join(tmpdir(), 'lockstep-lock-')), 'data')
  try {
    const unlock = await lockDirectory(directory)
    match(await readFile(join(directory, '.lock'), 'utf8'), new RegExp(`^${process.pid} `))
    await rejects(lockDirectory(directory), new RegExp(`in use by process ${process.pid}`))
    await unlock()
    await (await lockDirectory(directory))()
  } finally {
    await rm(directory, { recursive: true })
  }
})

test('a lock left by a process that is gone is taken over, also when its id is in use again', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'lockstep-lock-'))
  const child = spawn(process.execPath, ['-e', ''])
  await new Promise(resolve => child.on('exit', resolve))
  try {
    await writeFile(join(directory, '.lock'), `${child.pid} 123`)
    await (await lockDirectory(directory))()
    await writeFile(join(directory, '.lock'), `${process.pid} 1`)
    await (await lockDirectory(directory))()
    await writeFile(join(directory, '.lock'), '')
    await (await lockDirectory(directory))()
  } finally {
    await rm(directory, { recursive: true })
  }
})
