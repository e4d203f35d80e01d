// Takes pictures of the operator's page: every view before two nodes, light and dark, wide and narrow. Run by hand (`npm run pictures`) when the page has changed; --out, --only and --format say where, which and how.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { PageBrowser } from '../test/page/browser.ts'
import { ensureBuiltPage } from '../test/page/built-page.ts'
import { type Scene, startScene } from './page-pictures/scene.ts'
import { VIEWS, type View } from './page-pictures/views.ts'

const LOOKS = [
  { suffix: 'light', width: 1280, height: 900, dark: false },
  { suffix: 'dark', width: 1280, height: 900, dark: true },
  { suffix: 'narrow-light', width: 360, height: 740, dark: false },
  { suffix: 'narrow-dark', width: 360, height: 740, dark: true },
] as const

/** Pictures that docs show; all others are for whoever changes the page to look at. */
const IN_DOCS = [
  ...['overview', 'link', 'mirror', 'nodes', 'events', 'tasks', 'configuration', 'groups', 'acls', 'outage'].map(
    name => `${name}-light`,
  ),
  ...['new-link', 'new-mirrors', 'promote-dry', 'failover-dry', 'restore-dry', 'delete-dry', 'failover-done'].map(
    name => `${name}-light`,
  ),
  ...['overview-dark', 'mirror-dark', 'outage-failover-dry-dark', 'mirror-stopped-dark'],
  ...['overview-narrow-light', 'link-narrow-dark', 'mirror-narrow-light', 'failover-dry-narrow-dark'],
]

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(import.meta.dirname, '../docs/pictures') },
    /** Names of views, separated by commas; left out = what docs show. */
    only: { type: 'string' },
    all: { type: 'boolean', default: false },
    format: { type: 'string', default: 'webp' },
    /** Seconds before the first one. */
    warm: { type: 'string', default: '120' },
  },
})
const isWanted = (name: string, suffix: string): boolean =>
  values.all || (values.only?.split(',').includes(name) ?? IN_DOCS.includes(`${name}-${suffix}`))

ensureBuiltPage()
mkdirSync(values.out, { recursive: true })
const scene = await startScene()
const browser = await PageBrowser.start()
try {
  const { page } = await browser.open(scene.node.rest.origin)
  // Lines that have grown for a while say more than dots.
  if (values.only === undefined) await page.waitForTimeout(Number(values.warm) * 1000)
  for (const view of VIEWS) {
    const looks = LOOKS.filter(({ suffix }) => isWanted(view.name, suffix))
    if (looks.length > 0 || view.isStep) await take(page, view, looks)
  }
} finally {
  await browser.close()
  await scene.close()
}

async function take(page: Page, view: View, looks: readonly (typeof LOOKS)[number][]): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
  await page.evaluate(`location.hash = ${JSON.stringify(view.place)}`)
  await page.getByText('Asking the node…').waitFor({ state: 'detached' })
  await page.waitForTimeout(view.name === 'mirror' ? 25_000 : 1500)
  try {
    await view.prepare?.(page, scene satisfies Scene)
    await page.waitForTimeout(500)
  } catch (error) {
    process.stderr.write(`${view.name}: ${error instanceof Error ? error.message : error}\n`)
  }
  for (const look of looks) {
    await page.setViewportSize(look)
    await page.emulateMedia({ colorScheme: look.dark ? 'dark' : 'light' })
    await page.evaluate('scrollTo(0, 0)')
    await page.mouse.move(0, 0)
    await page.waitForTimeout(400)
    await picture(page, join(values.out, `${view.name}-${look.suffix}`))
  }
  await page.keyboard.press('Escape')
  await page.evaluate('location.hash = "#/nodes"')
}

async function picture(page: Page, path: string): Promise<void> {
  const isWhole = (await page.getByRole('dialog').count()) === 0
  if (values.format === 'png') {
    await page.screenshot({ path: `${path}.png`, fullPage: isWhole })
    return
  }
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: 82,
    captureBeyondViewport: isWhole,
  })
  writeFileSync(`${path}.webp`, Buffer.from(data, 'base64'))
  await session.detach()
}
