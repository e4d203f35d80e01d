/** The page before mirrors of a real Kafka: what it shows of them, a failover during an outage, an ordinary topic afterwards. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { sourceVersion } from '../kafka/jars.ts'
import { type BrowserWindow, PageBrowser } from '../page/browser.ts'
import { ensureBuiltPage } from '../page/built-page.ts'
import { skipWithout } from '../requirements.ts'
import { type MirrorWorld, startMirrorWorld } from '../scenarios/mirror-world.ts'

const skip = skipWithout('java', 'chromium')
const TOPICS = ['orders', 'payments']
const RECORDS = 5000
let world: MirrorWorld
let browser: PageBrowser
let window: BrowserWindow

before(async () => {
  if (skip !== false) return
  ensureBuiltPage()
  const configs = { 'availability.check.ms': '1000', 'availability.check.consecutive.failure.threshold': '2' }
  world = await startMirrorWorld(sourceVersion(), { link: configs })
  for (const topic of TOPICS) {
    await world.sides.source.createTopic(topic, { partitions: 1 })
    await world.sides.source.produce(topic, { generate: { count: RECORDS, valueBytes: 200 } })
    await world.link.mirror(topic)
  }
  browser = await PageBrowser.start()
  window = await browser.open(world.node.rest.origin)
})
after(async () => {
  await browser?.close()
  await world?.close()
})

test('mirrors of a real Kafka are shown in step, and as equal to their source', { skip }, async () => {
  const { page } = window
  await page.getByRole('link', { name: '2 active' }).waitFor()
  await page.goto(`${world.node.rest.origin}/#/links/from-kafka/mirrors/orders`)
  const row = page.locator('.grid-row').first()
  await eventually(async () => ok((await row.textContent())?.includes('5,0005,0000')))
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByRole('region', { name: 'Verification' }).getByText('equal', { exact: true }).waitFor()
})

test('both are failed over during an outage of Kafka, and written to afterwards', { skip }, async () => {
  const { page } = window
  await page.goto(`${world.node.rest.origin}/#/links/from-kafka`)
  await page.getByRole('grid', { name: 'Mirrors of from-kafka' }).waitFor()
  await world.cluster.node(1).kill()
  await page.locator('.grid-row', { hasText: 'payments' }).getByText('source unavailable').waitFor()
  await page.getByRole('checkbox', { name: 'Select all shown' }).click()
  await page.getByRole('button', { name: 'Fail over' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('records of the source that will be missing here, as last seen').waitFor()
  await dialog.getByRole('textbox').fill('from-kafka')
  await dialog.getByRole('button', { name: 'Fail over 2 mirrors' }).click()
  await dialog.getByText('2 of 2').waitFor()
  for (const topic of TOPICS) {
    strictEqual((await world.link.describe(topic)).mirror_status, 'STOPPED')
    await eventually(() => world.sides.mirror.produce(topic, { generate: { count: 10 } }))
    const [partition] = Object.values(await world.sides.mirror.consume(topic))
    strictEqual(partition?.records.length, RECORDS + 10)
  }
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.locator('.grid-row', { hasText: 'payments' }).getByText('stopped').waitFor()
  deepStrictEqual(window.complaints, [])
})
