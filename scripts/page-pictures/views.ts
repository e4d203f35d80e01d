// Every view of the operator's page that a picture is taken of, and what is done before; page-pictures takes them in this order.
import type { Page } from 'playwright-core'
import type { Scene } from './scene.ts'

export interface View {
  readonly name: string
  /** The part of the address behind the host. */
  readonly place: string
  /** Brings the view into the state that the picture shows. */
  readonly prepare?: (page: Page, scene: Scene) => Promise<void>
  /** Is prepared also where nobody wants its picture: later ones build on it. */
  readonly isStep?: boolean
}

const dialogOf = (page: Page) => page.getByRole('dialog')

/** Opens the dialog of a verb and waits for its dry run. */
const dryRun = (button: string) => async (page: Page) => {
  await page.getByRole('button', { name: button, exact: true }).click()
  await dialogOf(page).locator('.toll').waitFor()
}

/** The same, and goes through with it. */
const done = (button: string, typed?: string) => async (page: Page) => {
  await dryRun(button)(page)
  if (typed !== undefined) await dialogOf(page).getByRole('textbox').fill(typed)
  await dialogOf(page).locator('.dialog-foot').getByRole('button').last().click()
  await dialogOf(page).getByText('1 of 1').waitFor()
}

const mirror = (topic: string) => `#/links/west/mirrors/${topic}`

export const VIEWS: readonly View[] = [
  { name: 'overview', place: '#/' },
  { name: 'link', place: '#/links/west' },
  {
    name: 'link-chosen',
    place: '#/links/west',
    prepare: async page => {
      for (const topic of ['orders', 'payments', 'clicks.web'])
        await page.getByRole('checkbox', { name: `Select ${topic}` }).click()
    },
  },
  {
    name: 'pause-link',
    place: '#/links/west',
    prepare: async page => {
      await page.getByRole('button', { name: 'Pause link' }).click()
      await dialogOf(page).locator('.toll').waitFor()
    },
  },
  { name: 'link-down', place: '#/links/old-site' },
  { name: 'tasks', place: '#/links/west/tasks' },
  { name: 'configuration', place: '#/links/west/configuration' },
  {
    name: 'property',
    place: '#/links/west/configuration',
    prepare: async page => {
      await page.getByRole('searchbox', { name: 'Find a property' }).fill('topic.config')
      await page.getByRole('button', { name: 'Change: topic.config.sync.ms' }).click()
      await page.getByLabel('New value of topic.config.sync.ms').fill('soon')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('alert').waitFor()
    },
  },
  { name: 'groups', place: '#/links/west/groups' },
  {
    name: 'adopt-group',
    place: '#/links/west/groups',
    prepare: async page => {
      await page
        .getByRole('button', { name: /^Adopt: / })
        .first()
        .click()
      await dialogOf(page).waitFor()
    },
  },
  { name: 'acls', place: '#/links/west/acls' },
  {
    name: 'mirror',
    place: mirror('orders'),
    prepare: async page => {
      await page.getByRole('button', { name: 'Verify' }).click()
      await page.getByRole('button', { name: 'Explain' }).click()
      await page.getByRole('region', { name: 'Explanation' }).locator('.checks li').first().waitFor()
      await page.getByRole('region', { name: 'Verification' }).getByText('equal', { exact: true }).waitFor()
    },
  },
  { name: 'mirror-stopped', place: mirror('customer-profiles') },
  { name: 'mirror-failed', place: mirror('inventory.stock-levels') },
  { name: 'pause-dry', place: mirror('clicks.web'), prepare: dryRun('Pause') },
  { name: 'promote-dry', place: mirror('payments'), prepare: dryRun('Promote') },
  { name: 'promote-done', place: mirror('clicks.mobile'), prepare: done('Promote') },
  { name: 'resume-done', place: mirror('audit-log'), prepare: done('Resume') },
  { name: 'failover-dry', place: mirror('clicks.web'), prepare: dryRun('Fail over') },
  {
    name: 'restore',
    place: '#/links/twin',
    prepare: async page => {
      await page.getByRole('button', { name: 'Restore topics' }).click()
      await page.getByRole('checkbox', { name: 'Select invoices' }).click()
    },
  },
  {
    name: 'restore-dry',
    place: '#/links/twin',
    prepare: async page => {
      await page.getByRole('button', { name: 'Restore topics' }).click()
      await page.getByRole('checkbox', { name: 'Select invoices' }).click()
      await page.getByRole('button', { name: 'Dry run of 1 topic' }).click()
      await dialogOf(page).locator('.toll').waitFor()
    },
  },
  { name: 'two-way', place: '#/links/twin/mirrors/stock' },
  { name: 'delete-dry', place: mirror('payments'), prepare: dryRun('Delete') },
  {
    name: 'many-dry',
    place: '#/links/west',
    prepare: async page => {
      await page.getByRole('checkbox', { name: 'Select all shown' }).click()
      await page.getByRole('button', { name: /^Fail over/ }).click()
      await dialogOf(page).locator('.toll').waitFor()
    },
  },
  {
    name: 'new-link',
    place: '#/',
    prepare: async (page, { source }) => {
      await page.getByRole('button', { name: 'New link' }).click()
      await page.getByLabel('Name of the link').fill('east')
      await page.getByLabel('Addresses of the other cluster').fill(source.bootstrap)
      await dialogOf(page).getByRole('list', { name: 'Checks' }).waitFor()
    },
  },
  {
    name: 'new-link-wrong',
    place: '#/',
    prepare: async page => {
      await page.getByRole('button', { name: 'New link' }).click()
      await page.getByLabel('Name of the link').fill('east')
      await page.getByLabel('Addresses of the other cluster').fill('127.0.0.1:1')
      await dialogOf(page).getByRole('list', { name: 'Checks' }).waitFor()
    },
  },
  {
    name: 'new-mirrors',
    place: '#/links/west',
    prepare: async page => {
      await page.getByRole('button', { name: 'New mirrors' }).click()
      await page.getByRole('checkbox', { name: 'Select shipping.events' }).click()
    },
  },
  {
    name: 'new-mirrors-done',
    place: '#/links/west',
    prepare: async page => {
      await page.getByRole('button', { name: 'New mirrors' }).click()
      await page.getByRole('checkbox', { name: 'Select shipping.events' }).click()
      await page.getByRole('button', { name: 'Create 1 mirror' }).click()
      await dialogOf(page).getByText('1 of 1 mirror').waitFor()
    },
  },
  {
    name: 'delete-link',
    place: '#/links/west',
    prepare: async page => {
      await page.getByRole('button', { name: 'Delete link' }).click()
      await dialogOf(page).getByRole('alert').waitFor()
    },
  },
  { name: 'nodes', place: '#/nodes' },
  { name: 'events', place: '#/events' },
  {
    name: 'outage',
    place: '#/',
    isStep: true,
    prepare: async (page, { source }) => {
      await source.kill()
      await page.getByRole('link', { name: 'Link west is unavailable' }).waitFor()
    },
  },
  { name: 'outage-link', place: '#/links/west' },
  { name: 'outage-mirror', place: mirror('orders') },
  { name: 'outage-failover-dry', place: mirror('orders'), prepare: dryRun('Fail over') },
  { name: 'failover-done', place: mirror('payments'), prepare: done('Fail over', 'payments') },
  {
    name: 'old-figures',
    place: '#/',
    prepare: async (page, { node }) => {
      await node.kill()
      await page.getByText(/^Figures are .* old$/).waitFor()
    },
  },
]
