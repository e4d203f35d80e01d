/** The page in a browser against real nodes: what it shows, every action from its dry run to its end, a node that goes away and comes back. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Kafka, logLevel } from 'kafkajs'
import type { Page } from 'playwright-core'
import { eventually } from '../eventually.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { overflow, seriousFindings } from '../page/accessibility.ts'
import { type BrowserWindow, PageBrowser } from '../page/browser.ts'
import { ensureBuiltPage } from '../page/built-page.ts'
import { createUnreachableLink, type PageWorld, startPageWorld, write } from '../page/page-world.ts'
import { skipWithout } from '../requirements.ts'

const skip = skipWithout('chromium')
let world: PageWorld
let browser: PageBrowser
let window: BrowserWindow
/** Offsets of a group at both ends; a rebalance takes as long as the first tests. */
let committed: Promise<unknown> | undefined

before(async () => {
  if (skip !== false) return
  ensureBuiltPage()
  world = await startPageWorld(['orders', 'payments', 'clicks.web', 'audit-log'])
  committed = Promise.all([commitOffset(world.node, '3'), commitOffset(world.source, '5')])
  await createUnreachableLink(world.node, 'old-site')
  browser = await PageBrowser.start()
  window = await browser.open(world.node.rest.origin)
})
after(async () => {
  await browser?.close()
  await world?.close()
})

async function commitOffset({ bootstrap }: LockstepNode, offset: string): Promise<void> {
  const admin = new Kafka({ brokers: [bootstrap], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  await admin.setOffsets({ groupId: 'billing', topic: 'orders', partitions: [{ partition: 0, offset }] })
  await admin.disconnect()
}

const open = async (hash: string): Promise<Page> => {
  await window.page.goto(`${world.node.rest.origin}/${hash}`)
  return window.page
}
const statusOf = async (topic: string) => (await world.link.describe(topic)).mirror_status
const dialogOf = (page: Page) => page.getByRole('dialog')

test('the overview tells first what is wrong, then each link with its mirrors, lag and throughput', {
  skip,
}, async () => {
  const page = await open('#/')
  await page.getByRole('link', { name: 'Link old-site is unavailable' }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  const card = page.locator('.link-card', { has: page.getByRole('link', { name: 'west', exact: true }) })
  await card.getByRole('link', { name: '4 active' }).waitFor()
  await card.getByText(world.source.clusterId).waitFor()
  await write(world.producer, 'orders', 500)
  await card.getByText(/[1-9][\d.]* (B|KB|MB)\/s/).waitFor()
  match(await page.title(), /^\(\d+\) Lockstep$/)
})

test('every view is fit for screen readers and for narrow windows, light and dark', { skip }, async () => {
  const views = [
    '#/',
    '#/links/west',
    '#/links/west/tasks',
    '#/links/west/configuration',
    '#/links/west/groups',
    '#/links/west/acls',
    '#/links/west/mirrors/orders',
    '#/nodes',
    '#/events',
  ]
  for (const look of [{ width: 1280 }, { width: 360, height: 740, dark: true }]) {
    const { page, context, complaints } = await browser.open(world.node.rest.origin, look)
    for (const view of views) {
      await page.goto(`${world.node.rest.origin}/${view}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByText('Asking the node…').waitFor({ state: 'detached' })
      if (view.endsWith('configuration')) await page.getByRole('checkbox', { name: 'Only what was set' }).click()
      deepStrictEqual(await seriousFindings(page), [], view)
      ok((await overflow(page)) <= 0, `${view} is wider than ${look.width} px`)
    }
    deepStrictEqual(complaints, [])
    await context.close()
  }
})

// The text of the main buttons went white on white under the mouse, and names of topics were one letter long.
test('what is pointed at stays readable, and with little room a topic is told by its whole name', {
  skip,
}, async () => {
  for (const dark of [false, true]) {
    const { page, context } = await browser.open(`${world.node.rest.origin}/#/links/west`, { width: 360, dark })
    await page.getByRole('button', { name: 'New mirrors' }).hover()
    deepStrictEqual(await seriousFindings(page), [])
    const name = page.getByRole('link', { name: 'clicks.web' })
    strictEqual(await name.evaluate(element => element.scrollWidth > element.clientWidth), false)
    await context.close()
  }
})

test('many mirrors are paused and resumed at once: dry run, progress, end', { skip }, async () => {
  const page = await open('#/links/west')
  await page.getByRole('grid', { name: 'Mirrors of west' }).waitFor()
  for (const topic of ['orders', 'payments']) await page.getByRole('checkbox', { name: `Select ${topic}` }).click()
  await page.getByText('2 selected').waitFor()
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await dialogOf(page).getByText('Dry run: nothing has been changed yet').waitFor()
  await dialogOf(page).getByRole('button', { name: 'Pause 2 mirrors' }).click()
  await dialogOf(page).getByText('2 of 2').waitFor()
  deepStrictEqual([await statusOf('orders'), await statusOf('payments')], ['PAUSED', 'PAUSED'])
  await dialogOf(page).getByRole('button', { name: 'Close' }).last().click()
  await page.locator('.grid-row', { hasText: 'orders' }).getByText('paused').waitFor()
  await page.getByRole('button', { name: 'Resume', exact: true }).click()
  await dialogOf(page).getByRole('button', { name: 'Resume 2 mirrors' }).click()
  await dialogOf(page).getByText('2 of 2').waitFor()
  strictEqual(await statusOf('orders'), 'ACTIVE')
})

test('a mirror shows its partitions, history, explanation, and that it is equal to its source', { skip }, async () => {
  const page = await open('#/links/west/mirrors/orders')
  const partitions = page.getByRole('grid', { name: 'Partitions of orders' })
  await partitions.waitFor()
  strictEqual(await partitions.getAttribute('aria-rowcount'), '7')
  await page.getByRole('img', { name: /^Lag: / }).waitFor()
  await page.getByRole('img', { name: /^Throughput: / }).waitFor()
  await page.getByRole('region', { name: 'History' }).getByText('resumed on request').first().waitFor()
  await page.getByRole('button', { name: 'Explain' }).click()
  await page.getByRole('region', { name: 'Explanation' }).locator('.checks li').first().waitFor()
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByRole('region', { name: 'Verification' }).getByText('equal', { exact: true }).waitFor()
})

test('a property is changed only after the node has checked it', { skip }, async () => {
  const page = await open('#/links/west/configuration')
  await page.getByRole('searchbox', { name: 'Find a property' }).fill('acl.sync.ms')
  await page.getByRole('button', { name: 'Change: acl.sync.ms' }).click()
  await page.getByLabel('New value of acl.sync.ms').fill('soon')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('New value of acl.sync.ms').fill('7000')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('7000', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Reset: acl.sync.ms to its default' }).click()
  await page.getByText('5000', { exact: true }).waitFor()
})

test('a task is run now, and says when it last succeeded', { skip }, async () => {
  const page = await open('#/links/west/tasks')
  await page.getByRole('button', { name: 'Run now: ConsumerOffsetSync' }).click()
  const time = page.locator('li', { hasText: 'ConsumerOffsetSync' }).locator('time')
  await time.waitFor()
  match((await time.getAttribute('title')) ?? '', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC$/)
})

test('a whole link is paused and resumed, each after its dry run', { skip }, async () => {
  const page = await open('#/links/west')
  const turn = async (label: string, told: string) => {
    await page.getByRole('button', { name: label }).click()
    await dialogOf(page).getByText(told).waitFor()
    await dialogOf(page).getByRole('button', { name: label }).click()
    await dialogOf(page).waitFor({ state: 'detached' })
  }
  await turn('Pause link', 'mirrors stand still')
  await page.locator('.title-line').first().getByText('paused').waitFor()
  strictEqual(await statusOf('orders'), 'LINK_PAUSED')
  await turn('Resume link', 'mirrors follow their source again')
  await page.locator('.title-line').first().getByText('active').waitFor()
  await eventually(async () => strictEqual(await statusOf('orders'), 'ACTIVE'))
})

test('a group that somebody else has committed here is adopted once it is told what is overwritten, also on a telephone', {
  skip,
}, async () => {
  await committed
  const { page, context } = await browser.open(`${world.node.rest.origin}/#/links/west/groups`, { width: 360 })
  await page.getByRole('button', { name: /^Adopt: .* billing$/ }).click()
  await dialogOf(page).getByText('orders / 0').waitFor()
  deepStrictEqual(await seriousFindings(page), [])
  await dialogOf(page).getByRole('button', { name: 'Overwrite 1 offset' }).click()
  await dialogOf(page).waitFor({ state: 'detached' })
  await page.locator('.grid-row', { hasText: 'billing' }).getByText('synced').waitFor()
  await context.close()
})

test('a link is checked while one types, created, given mirrors, and deleted by typing its name', {
  skip,
}, async () => {
  const page = await open('#/')
  await page.getByRole('button', { name: 'New link' }).click()
  await page.getByLabel('Name of the link').fill('second')
  await page.getByLabel('Addresses of the other cluster').fill('127.0.0.1:1')
  await dialogOf(page).getByText('failed', { exact: true }).first().waitFor()
  await dialogOf(page)
    .getByText(/^The link cannot be created: 1 failed, /)
    .waitFor()
  ok(await dialogOf(page).getByRole('button', { name: 'Create link' }).isDisabled())
  await page.getByLabel('Addresses of the other cluster').fill(world.source.bootstrap)
  await page.getByLabel('Prefix of the names of mirrors').fill('copy.')
  await dialogOf(page).getByText('failed', { exact: true }).first().waitFor({ state: 'detached' })
  await dialogOf(page).getByRole('button', { name: 'Create link' }).click()
  await page.getByRole('heading', { level: 1, name: 'second' }).waitFor()
  await page.getByRole('button', { name: 'New mirrors' }).click()
  await page.getByRole('checkbox', { name: 'Select shipping.events' }).click()
  strictEqual(await dialogOf(page).getByRole('checkbox', { name: 'Select __consumer_offsets' }).count(), 0)
  await page.getByRole('checkbox', { name: 'Select customer-profiles' }).click()
  await page.getByRole('button', { name: 'Create 2 mirrors' }).click()
  await dialogOf(page).getByText('2 of 2 mirrors').waitFor()
  await dialogOf(page).getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('link', { name: 'copy.shipping.events' }).waitFor()
  await page.getByRole('link', { name: 'copy.customer-profiles' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await dialogOf(page).getByRole('textbox').fill('copy.customer-profiles')
  await dialogOf(page).getByRole('button', { name: 'Delete' }).click()
  await dialogOf(page).getByText('1 of 1 deleted.').waitFor()
  await page.getByText('There is no mirror copy.customer-profiles of second any more.').waitFor()
  await dialogOf(page).getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('main').getByRole('link', { name: 'second' }).click()
  await page.getByRole('button', { name: 'Delete link' }).click()
  await dialogOf(page).getByRole('alert').waitFor()
  await page.getByLabel('Fail over mirrors that still follow their source').click()
  await dialogOf(page)
    .getByText(/1 mirror will be failed over/)
    .waitFor()
  const remove = dialogOf(page).getByRole('button', { name: 'Delete link' })
  ok(await remove.isDisabled())
  await dialogOf(page).getByRole('textbox').fill('second')
  await remove.click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page.getByRole('link', { name: 'second', exact: true }).waitFor({ state: 'detached' })
})

test('a promote says how much is missing, waits, and shows where each partition stopped', { skip }, async () => {
  const page = await open('#/links/west/mirrors/payments')
  await page.getByRole('button', { name: 'Promote' }).click()
  await dialogOf(page).getByText('groups not in step yet').waitFor()
  await dialogOf(page).getByRole('button', { name: 'Promote' }).click()
  await dialogOf(page).getByText('1 of 1').waitFor()
  strictEqual(await statusOf('payments'), 'STOPPED')
  await dialogOf(page).getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('columnheader', { name: 'Stop offset' }).waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  await page.getByRole('columnheader', { name: 'Lag then' }).waitFor()
  await eventually(async () => ok((await overflow(page)) <= 0, 'stop points are wider than a telephone'))
  await page.setViewportSize({ width: 1280, height: 900 })
})

test('a node that goes away is missed, and heard again where it was left; what the page changes elsewhere is told', {
  skip,
}, async () => {
  const page = await open('#/events')
  await page.getByText('Live', { exact: true }).waitFor()
  await page.locator('.grid-row', { hasText: 'payments' }).getByText('stopped').first().waitFor()
  await world.node.kill()
  await page.getByText(/^Figures are .* old$/).waitFor()
  // What a screen reader hears does not change with every second.
  await page.getByRole('status').getByText('Figures are old', { exact: true }).waitFor()
  await world.node.start()
  await page.getByText('Live', { exact: true }).waitFor()
  await world.link.must('pause', ['clicks.web'])
  await page.locator('.grid-row', { hasText: 'clicks.web' }).getByText('paused').first().waitFor()
  await page.getByRole('searchbox', { name: 'Filter events' }).fill('no such thing')
  await page.getByText('0 events').waitFor()
})

test('a mirror is failed over during an outage of its source, and only by its name', { skip }, async () => {
  const page = await open('#/links/west/mirrors/audit-log')
  await page.getByRole('heading', { level: 1, name: 'audit-log' }).waitFor()
  await world.source.kill()
  await page.locator('.title-line').first().getByText('source unavailable').waitFor()
  await page.goto(`${world.node.rest.origin}/#/`)
  // One thing is wrong with the link, whatever it holds up.
  await page.getByText(/It holds up \d+ mirrors? and \d tasks?\.$/).waitFor()
  strictEqual(await page.locator('.problem').filter({ hasText: 'west' }).count(), 1)
  await page.goto(`${world.node.rest.origin}/#/links/west/mirrors/audit-log`)
  await page.getByRole('button', { name: 'Fail over' }).click()
  await dialogOf(page).getByText('records of the source that will be missing here, as last seen').waitFor()
  await dialogOf(page)
    .getByText(/^The source does not answer: /)
    .waitFor()
  await dialogOf(page).getByText('since all that the source had was here').waitFor()
  const act = dialogOf(page).getByRole('button', { name: 'Fail over' })
  ok(await act.isDisabled())
  await dialogOf(page).getByRole('textbox').fill('audit')
  ok(await act.isDisabled())
  await dialogOf(page).getByRole('textbox').fill('audit-log')
  await act.click()
  await dialogOf(page).getByText('1 of 1').waitFor()
  strictEqual(await statusOf('audit-log'), 'STOPPED')
  await dialogOf(page).getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await dialogOf(page).getByText('records at most, deleted here').waitFor()
  await page.keyboard.press('Escape')
  await dialogOf(page).waitFor({ state: 'detached' })
  await world.source.start()
})

test('the page complained of nothing, and asked no other host', { skip }, () => deepStrictEqual(window.complaints, []))
