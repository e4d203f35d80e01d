/** Secrets of links at rest: sealed differently each time, opened only by the right key, for the right property, unchanged. */
import { equal, match, notEqual, rejects, throws } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SecretBoxError } from '../link/ports.ts'
import { openSecretKeyBox, SecretKeyBox } from './secret-key-box.ts'

test('what was sealed is opened, by its key, for its property, unchanged', () => {
  const [key, other] = [randomBytes(32), randomBytes(32)]
  const box = new SecretKeyBox([key])
  const sealed = box.seal('ssl.key.password', 'geheim ü')
  notEqual(box.seal('ssl.key.password', 'geheim ü'), sealed)
  equal(sealed.includes('geheim'), false)
  equal(box.open('ssl.key.password', sealed), 'geheim ü')
  throws(() => box.open('sasl.jaas.config', sealed), SecretBoxError)
  throws(() => new SecretKeyBox([other]).open('ssl.key.password', sealed), /which this node does not have/)
  throws(() => box.open('ssl.key.password', `${sealed.slice(0, -2)}AA`), SecretBoxError)
  throws(() => box.open('ssl.key.password', 'sealed:2:x:y'), SecretBoxError)
  const rotated = new SecretKeyBox([other, key])
  equal(rotated.open('ssl.key.password', sealed), 'geheim ü')
  equal(new SecretKeyBox([other]).open('a', rotated.seal('a', 'b')), 'b')
})

async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-key-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

test('the key is made once, for its owner alone', async t => {
  const directory = await folderOf(t)
  const sealed = (await openSecretKeyBox({ file: undefined, directory })).seal('a', 'b')
  equal((await openSecretKeyBox({ file: undefined, directory })).open('a', sealed), 'b')
  const path = join(directory, 'lockstep-secret.key')
  equal((await stat(path)).mode & 0o777, 0o600)
  match(await readFile(path, 'utf8'), /^[A-Za-z0-9+/]{43}=\n$/)
})

test('a file that is named must be there and hold keys', async t => {
  const directory = await folderOf(t)
  const file = join(directory, 'keys')
  await rejects(openSecretKeyBox({ file, directory }), /lockstep.secret.key.file: ENOENT/)
  await writeFile(file, '\n')
  await rejects(openSecretKeyBox({ file, directory }), /is empty/)
  await writeFile(file, 'hunter2\n')
  await rejects(
    openSecretKeyBox({ file, directory }),
    error => /not the base64/.test(String(error)) && !String(error).includes('hunter2'),
  )
})
