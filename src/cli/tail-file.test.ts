/** Files of record batches: what became of transactions, and damage that is told rather than printed. */
import { deepStrictEqual, rejects } from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { TailFile } from './commands/tail/tail-file.ts'

let folder: string
let whole: Buffer
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lockstep-tail-'))
  whole = await readFile(new URL('fakes/cut-off.log', import.meta.url))
})
after(() => rm(folder, { recursive: true }))

async function opened(bytes: Buffer): Promise<TailFile> {
  const path = join(folder, 'tail.log')
  await writeFile(path, bytes)
  return await TailFile.open(path)
}

test('a transaction ends with the next marker of its producer, and is open without one', async () => {
  const file = await opened(whole)
  const found = file.batches.map(batch => [batch.baseOffset, batch.lastOffset, file.endOf(batch)])
  deepStrictEqual(found, [
    [8, 9, 'open'],
    [10, 10, 'aborted'],
    [11, 11, 'open'],
    [12, 12, 'open'],
  ])
  await file.close()
})

test('a file that is cut short or damaged is refused, wherever that is', async () => {
  for (const cut of [1, 60, whole.length - 1])
    await rejects(opened(whole.subarray(0, cut)), /tail\.log: |middle of a batch/)
  const wrong = Buffer.from(whole)
  wrong.writeInt32BE(2_000_000_000, 8)
  await rejects(opened(wrong), /says it has/)
  const flipped = Buffer.from(whole)
  flipped[70] = (flipped[70] ?? 0) ^ 1
  const file = await opened(flipped)
  const [first] = file.batches
  await rejects(async () => first && (await file.read(first)), /CRC/i)
  await file.close()
})
