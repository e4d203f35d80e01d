/** The page in a browser with ten thousand mirrors: what is drawn, how long frames take, what a keyboard can do. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually } from '../eventually.ts'
import { seriousFindings } from '../page/accessibility.ts'
import { type BrowserWindow, PageBrowser } from '../page/browser.ts'
import { ensureBuiltPage } from '../page/built-page.ts'
import { type ManyMirrors, serveManyMirrors } from '../page/many-mirrors.ts'
import { skipWithout } from '../requirements.ts'

const skip = skipWithout('chromium')
const MIRRORS = 10_000
let browser: PageBrowser
let node: ManyMirrors
let window: BrowserWindow

before(async () => {
  if (skip !== false) return
  ensureBuiltPage()
  node = await serveManyMirrors(MIRRORS)
  browser = await PageBrowser.start()
  window = await browser.open(`${node.url}/#/links/west`)
  await window.page.getByText('10,000 mirrors', { exact: true }).waitFor()
})
after(async () => {
  await browser?.close()
  await node?.close()
})

const rowsDrawn = (page: Page) => page.locator('.grid-row').count()

/** How long frames took while `action` ran, in ms; the longest first. */
async function framesOf(page: Page, action: () => Promise<unknown>): Promise<number[]> {
  await page.evaluate(`
    window.frames_ = []
    window.watching_ = true
    let last = performance.now()
    const watch = now => {
      window.frames_.push(now - last)
      last = now
      if (window.watching_) requestAnimationFrame(watch)
    }
    requestAnimationFrame(watch)
  `)
  await action()
  const frames = (await page.evaluate('window.watching_ = false; window.frames_')) as number[]
  return frames.sort((a, b) => b - a)
}

test('of ten thousand mirrors only those that are seen are drawn, wherever one is', { skip }, async () => {
  const { page } = window
  ok((await rowsDrawn(page)) < 60)
  const grid = page.getByRole('grid', { name: 'Mirrors of west' })
  strictEqual(await grid.getAttribute('aria-rowcount'), '10001')
  await grid.evaluate(element => element.scrollTo(0, 5000 * 42))
  await page.locator('[role=row][aria-rowindex="5002"]').waitFor()
  ok((await rowsDrawn(page)) < 60)
  await grid.focus()
  await page.keyboard.press('End')
  await page.locator('[role=row][aria-rowindex="10001"]').waitFor()
  await page.keyboard.press('Home')
  await page.locator('[role=row][aria-rowindex="2"]').waitFor()
})

test('scrolling, filtering and new figures of all of them: frame times', { skip }, async t => {
  const { page } = window
  const grid = page.getByRole('grid', { name: 'Mirrors of west' })
  const tell = (what: string, frames: readonly number[]) => {
    const at = (share: number) => (frames[Math.floor(frames.length * share)] ?? 0).toFixed(0)
    t.diagnostic(
      `${what}: ${frames.length} frames, longest ${at(0)} ms, 95 % below ${at(0.05)} ms, half below ${at(0.5)} ms`,
    )
  }
  const scrolled = await framesOf(page, async () => {
    await grid.hover()
    for (let step = 0; step < 60; step++) await page.mouse.wheel(0, 400)
  })
  tell('scrolling', scrolled)
  const typed = await framesOf(page, () =>
    page.getByRole('searchbox', { name: 'Filter mirrors by name' }).pressSequentially('topic-0123'),
  )
  tell('filtering', typed)
  await page.getByText('10 of 10,000 mirrors').waitFor()
  await page.getByRole('searchbox', { name: 'Filter mirrors by name' }).fill('')
  const sorted = await framesOf(page, async () => {
    await page.getByRole('button', { name: 'Lag', exact: true }).click()
    await page.getByRole('button', { name: 'Topic', exact: true }).click()
  })
  tell('sorting', sorted)
  const before = await page.locator('.grid-row').first().textContent()
  const updated = await framesOf(page, async () => {
    node.tellLags()
    await eventually(async () => ok((await page.locator('.grid-row').first().textContent()) !== before))
  })
  tell('new lags of all', updated)
})

test('a keyboard walks, chooses and opens', { skip }, async () => {
  const { page } = window
  const grid = page.getByRole('grid', { name: 'Mirrors of west' })
  await grid.focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Space')
  await page.getByText('1 selected').waitFor()
  await page.keyboard.press('Shift+ArrowDown')
  await page.keyboard.press('Shift+ArrowDown')
  await page.getByText('3 selected').waitFor()
  await page.keyboard.press('Control+a')
  await page.getByText('10,000 selected').waitFor()
  await page.keyboard.press('Control+a')
  await page.getByText('10,000 selected').waitFor({ state: 'detached' })
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'region-0.team-0.topic-00000' }).waitFor()
  await page.goBack()
  await page.getByText('10,000 mirrors', { exact: true }).waitFor()
})

test('a status chosen on the overview is the filter of the table', { skip }, async () => {
  const { page } = window
  await page.getByRole('combobox', { name: 'Filter mirrors by status' }).selectOption('FAILED')
  await page.getByText(/^1,11\d of 10,000 mirrors$/).waitFor()
  await page.getByRole('combobox', { name: 'Filter mirrors by status' }).selectOption('')
})

test('a node of a joined cluster is drained after its dry run', { skip }, async () => {
  const { page } = window
  await page.goto(`${node.url}/#/nodes`)
  await page.getByRole('button', { name: 'Drain node 1001' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('partitions move').waitFor()
  await dialog.getByRole('row', { name: 'orders / 0 1001, 1002, 1 1002, 1' }).waitFor()
  deepStrictEqual(await seriousFindings(page), [])
  await dialog.getByRole('button', { name: 'Drain node 1001' }).click()
  await dialog.getByText('The node gets no new mirrors until it is resumed.').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('button', { name: 'Resume node 1002' }).click()
  strictEqual(await page.getByRole('alert').count(), 0)
  await page.goto(`${node.url}/#/links/west`)
})

test('nothing serious stands in the way of a screen reader, and the page complained of nothing', { skip }, async () => {
  deepStrictEqual(await seriousFindings(window.page), [])
  deepStrictEqual(window.complaints, [])
})
