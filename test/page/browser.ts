// Debian's Chromium driven by Playwright, for the suites of the page.
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { chromiumCommand } from '../requirements.ts'

export interface BrowserWindow {
  readonly page: Page
  readonly context: BrowserContext
  /** What the page complained about: errors of scripts, refusals of its content security policy, requests elsewhere. */
  readonly complaints: string[]
}

export interface WindowOptions {
  readonly width?: number
  readonly height?: number
  readonly dark?: boolean
  readonly touch?: boolean
}

/** One browser, many windows. */
export class PageBrowser {
  readonly #browser: Browser

  private constructor(browser: Browser) {
    this.#browser = browser
  }

  static async start(): Promise<PageBrowser> {
    // Tests run as root in containers, where Chromium's own sandbox cannot be set up; it loads nothing but a node of ours.
    const args = ['--no-sandbox', '--disable-dev-shm-usage', '--force-device-scale-factor=1']
    return new PageBrowser(await chromium.launch({ executablePath: chromiumCommand(), args, timeout: 120_000 }))
  }

  async open(url: string, options: WindowOptions = {}): Promise<BrowserWindow> {
    const { width = 1280, height = 900, dark = false, touch = false } = options
    const context = await this.#browser.newContext({
      viewport: { width, height },
      colorScheme: dark ? 'dark' : 'light',
      hasTouch: touch,
      reducedMotion: 'reduce',
      locale: 'en-GB',
      timezoneId: 'Europe/Zurich',
    })
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    const complaints: string[] = []
    const { origin } = new URL(url)
    page.on('pageerror', error => complaints.push(`error: ${error.message}`))
    page.on('console', message => {
      // What the node refuses is told here, too; that is for the page to show, and no fault of its own.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        complaints.push(message.text())
    })
    page.on('request', request => {
      if (!request.url().startsWith(origin)) complaints.push(`request to ${request.url()}`)
    })
    await page.goto(url)
    return { page, context, complaints }
  }

  close(): Promise<void> {
    return this.#browser.close()
  }
}
