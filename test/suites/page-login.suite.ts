/** The page of a node that wants a login: it asks for user and password itself, and tells of a wrong one. */
import { deepStrictEqual } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { LockstepNode } from '../lockstep-process.ts'
import { seriousFindings } from '../page/accessibility.ts'
import { PageBrowser } from '../page/browser.ts'
import { ensureBuiltPage } from '../page/built-page.ts'
import { skipWithout } from '../requirements.ts'

test('where REST wants a login the page asks for it, and tells of a wrong one', {
  skip: skipWithout('chromium'),
}, async () => {
  ensureBuiltPage()
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-page-'))
  const users = join(folder, 'users')
  await writeFile(users, 'olga: correct horse\n')
  const node = await LockstepNode.start({ properties: { 'rest.users': users } })
  const browser = await PageBrowser.start()
  try {
    const { page } = await browser.open(node.rest.origin)
    const logIn = async (password: string) => {
      await page.getByLabel('User').fill('olga')
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Log in' }).click()
    }
    await logIn('wrong')
    await page.getByRole('alert').getByText('wrong user or password').waitFor()
    deepStrictEqual(await seriousFindings(page), [])
    await logIn('correct horse')
    await page.getByText('No links yet').waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await page.reload()
    await page.getByText('No links yet').waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('button', { name: 'Log in' }).waitFor()
  } finally {
    await browser.close()
    await node.close()
    await rm(folder, { recursive: true, force: true })
  }
})
