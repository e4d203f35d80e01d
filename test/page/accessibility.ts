// What axe finds on a page; used by the suites of the page.
import axe from 'axe-core'
import type { Page } from 'playwright-core'

interface AxeResults {
  readonly violations: readonly {
    readonly id: string
    readonly impact: string | null
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
  }[]
}

/** Findings that keep somebody from using the page, as sentences; none is what is wanted. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  // In the page's own world, which knows axe by now.
  const { violations } = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as AxeResults
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    )
}

/** Pixels by which the page is wider than its window, or a table than its box. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate(`Math.max(
    document.documentElement.scrollWidth - window.innerWidth,
    ...[...document.querySelectorAll('.grid')].map(grid => grid.scrollWidth - grid.clientWidth),
  )`) as Promise<number>
