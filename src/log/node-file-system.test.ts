/** The disk behind the FileSystem port: few descriptors, whole writes, atomic replacement. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { saveFile } from './file-system.ts'
import { nodeFileSystem } from './node-file-system.ts'

async function inDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'lockstep-files-'))
  try {
    await run(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

test('many files share a few descriptors', () =>
  inDirectory(async directory => {
    const fs = nodeFileSystem({ openFilesMax: 3 })
    const files = await Promise.all(Array.from({ length: 20 }, (_, index) => fs.create(`${directory}/${index}`)))
    for (let round = 0; round < 3; round++) {
      await Promise.all(files.map((file, index) => file.write([Buffer.from(`${index},`)], round * 3)))
    }
    for (const [index, file] of files.entries()) {
      const buffer = Buffer.alloc(100)
      const count = await file.read(buffer, 6)
      strictEqual(buffer.subarray(0, count).toString(), `${index},`)
    }
    await Promise.all(files.map(file => file.close()))
  }))

test('in the calling thread everything answers as otherwise', () =>
  inDirectory(async directory => {
    const fs = nodeFileSystem({ openFilesMax: 2 })
    fs.blocking = true
    await saveFile(fs, `${directory}/a`, 'some text')
    const buffer = Buffer.alloc(20)
    const file = fs.file(`${directory}/a`)
    strictEqual(await file.read(buffer, 5), 4)
    strictEqual(buffer.toString('utf8', 0, 4), 'text')
    await file.close()
    strictEqual(await fs.sizeOf(`${directory}/a`), 9)
    deepStrictEqual(await fs.list(directory), ['a'])
    deepStrictEqual([await fs.sizeOf(`${directory}/b`), await fs.list(`${directory}/b`)], [undefined, undefined])
    await rejects(fs.readFile(`${directory}/b`), { code: 'ENOENT' })
    await rejects(fs.file(`${directory}/b`).read(buffer, 0), { code: 'ENOENT' })
  }))

test('a large buffer is written whole, in place', () =>
  inDirectory(async directory => {
    const file = await nodeFileSystem().create(`${directory}/a`)
    const large = randomBytes(3 * 1024 * 1024 + 5)
    await file.write([Buffer.from('head')], 0)
    await file.write([large], 4)
    const read = Buffer.alloc(large.length + 10)
    strictEqual(await file.read(read, 4), large.length)
    strictEqual(read.subarray(0, large.length).equals(large), true)
    await file.close()
  }))

test('a write of many buffers is one stretch of the file', () =>
  inDirectory(async directory => {
    const file = await nodeFileSystem().create(`${directory}/a`)
    const buffers = Array.from({ length: 3000 }, (_, index) => Buffer.from([index & 255, index >> 8]))
    await file.write(buffers, 10)
    const read = Buffer.alloc(6000)
    strictEqual(await file.read(read, 10), 6000)
    deepStrictEqual(read, Buffer.concat(buffers))
    await file.close()
  }))

test('closing waits for what runs and refuses what comes', () =>
  inDirectory(async directory => {
    const file = await nodeFileSystem().create(`${directory}/a`)
    const write = file.write([Buffer.alloc(1_000_000, 1)], 0)
    await file.close()
    await write
    await rejects(file.sync(), { code: 'EBADF' })
    strictEqual(await nodeFileSystem().sizeOf(`${directory}/a`), 1_000_000)
  }))

test('syncs of one file may overlap, and closing waits for all of them', () =>
  inDirectory(async directory => {
    const fs = nodeFileSystem({ openFilesMax: 1 })
    const file = await fs.create(`${directory}/a`)
    await file.write([Buffer.alloc(100_000, 1)], 0)
    const syncs = Array.from({ length: 8 }, () => file.sync())
    let ended = 0
    for (const sync of syncs) void sync.then(() => ended++)
    await file.close()
    strictEqual(ended, 8)
    strictEqual(fs.takesMoreSyncs, true)
  }))

test('a saved file replaces the old one and leaves nothing behind', () =>
  inDirectory(async directory => {
    const fs = nodeFileSystem()
    await saveFile(fs, `${directory}/a`, 'one')
    await saveFile(fs, `${directory}/a`, 'two')
    strictEqual((await fs.readFile(`${directory}/a`)).toString(), 'two')
    deepStrictEqual(await fs.list(directory), ['a'])
    strictEqual(await fs.list(`${directory}/none`), undefined)
    strictEqual(await fs.sizeOf(`${directory}/none`), undefined)
    await fs.remove(`${directory}/none`)
  }))
