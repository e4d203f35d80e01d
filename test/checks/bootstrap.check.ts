/** The start of a clone: what it refuses before it touches anything. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'

it('refuses to install through a link, which would empty the folder behind it', t => {
  const clone = mkdtempSync(join(tmpdir(), 'lockstep-clone-'))
  t.after(() => rmSync(clone, { recursive: true }))
  const elsewhere = join(clone, 'elsewhere')
  mkdirSync(join(clone, 'scripts'))
  mkdirSync(elsewhere)
  writeFileSync(join(elsewhere, 'of-others'), '')
  symlinkSync(elsewhere, join(clone, 'node_modules'))
  for (const file of ['scripts/bootstrap.mjs', 'package.json', 'package-lock.json']) cpSync(file, join(clone, file))

  const result = spawnSync(process.execPath, [join(clone, 'scripts', 'bootstrap.mjs'), 'check'], { encoding: 'utf8' })

  assert.equal(result.status, 1)
  assert.match(result.stderr, /node_modules is a link .* remove the link and run again/)
  assert.deepEqual(readdirSync(elsewhere), ['of-others'])
})
