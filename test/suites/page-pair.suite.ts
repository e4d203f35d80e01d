/** The page before one of two nodes with a bidirectional link: an ordinary topic is made a mirror of what the other cluster has, and both change roles. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { seriousFindings } from '../page/accessibility.ts'
import { type BrowserWindow, PageBrowser } from '../page/browser.ts'
import { ensureBuiltPage } from '../page/built-page.ts'
import { skipWithout } from '../requirements.ts'
import { createTopic, fill, type PeersWorld, startPeersWorld } from '../scenarios/peers-world.ts'

const skip = skipWithout('chromium')
let world: PeersWorld
let browser: PageBrowser
let window: BrowserWindow

before(async () => {
  if (skip !== false) return
  ensureBuiltPage()
  world = await startPeersWorld({ 'metadata.max.age.ms': '1000' })
  browser = await PageBrowser.start()
  window = await browser.open(`${world.east.node.rest.origin}/#/links/twin`)
})
after(async () => {
  await browser?.close()
  await world?.close()
})

test('a topic that was lost to its successor is restored: what is cut off is told, its name typed', {
  skip,
}, async () => {
  const { east, west } = world
  const { page } = window
  const dialog = page.getByRole('dialog')
  await createTopic(east, 'orders', 2)
  await fill(east, 'orders', 'a')
  await west.link.mirror('orders')
  await eventually(async () =>
    match(String((await west.link.describe('orders')).mirror_lags.map(({ lag }) => lag)), /^0,0$/),
  )
  await west.link.failOver(['orders'])
  await eventually(() => fill(east, 'orders', 'lost'))
  // The half of the other cluster is looked at now and then; before that there is nothing to restore from.
  await eventually(async () =>
    strictEqual((await east.link.restore('orders', { validateOnly: true }))?.error_code, null),
  )
  await page.getByRole('button', { name: 'Restore topics' }).click()
  await dialog.getByRole('checkbox', { name: 'Select orders' }).click()
  await dialog.getByRole('button', { name: 'Dry run of 1 topic' }).click()
  await dialog.getByText('records that will be cut off').waitFor()
  deepStrictEqual(await seriousFindings(page), [])
  await dialog.getByRole('textbox').fill('orders')
  await dialog.getByRole('button', { name: 'Restore', exact: true }).click()
  await dialog.getByText('1 of 1').waitFor()
  strictEqual((await east.link.describe('orders')).mirror_status, 'ACTIVE')
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('link', { name: 'orders' }).waitFor()
})

test('a mirror and its source change roles: dry run, progress at both ends, what it cost', { skip }, async () => {
  const { east, west } = world
  const { page } = window
  const dialog = page.getByRole('dialog')
  await eventually(() => east.link.must('reverse-and-start-mirror?validate_only=true', ['orders']))
  await page.goto(`${east.node.rest.origin}/#/links/twin/mirrors/orders`)
  await page.getByRole('button', { name: 'Reverse', exact: true }).click()
  await dialog.getByText('records behind now').waitFor()
  await dialog.getByRole('button', { name: 'Reverse', exact: true }).click()
  await dialog.getByText('1 of 1').waitFor()
  strictEqual((await east.link.describe('orders')).mirror_status, 'STOPPED')
  await west.link.waitForStatus('orders', 'ACTIVE')
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByText(/^Roles were changed: nobody could write for /).waitFor()
})

test('the page complained of nothing', { skip }, () => deepStrictEqual(window.complaints, []))
