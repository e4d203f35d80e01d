/** Writes docs/generated, and the dashboard of deploy/, from the tables in the code; with --check it changes nothing and fails if a page is stale. Called by `npm run generate:docs` and by the static checks. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { commandsPage } from './docs/commands.ts'
import { dashboard } from './docs/dashboard.ts'
import { errorsPage } from './docs/errors.ts'
import { kafkaApisPage } from './docs/kafka-apis.ts'
import { linkPropertiesPage } from './docs/link-properties.ts'
import { pageText } from './docs/markdown.ts'
import { metricsPage } from './docs/metrics.ts'
import { mirrorStatesPage } from './docs/mirror-states.ts'
import { nodePropertiesPage } from './docs/node-properties.ts'
import { restAccessPage } from './docs/rest-access.ts'
import { troubleshootingPage } from './docs/troubleshooting.ts'

const folder = fileURLToPath(new URL('../docs/generated/', import.meta.url))
const { values } = parseArgs({ options: { check: { type: 'boolean' } } })

const pages = new Map(
  [
    mirrorStatesPage(),
    linkPropertiesPage(),
    nodePropertiesPage(),
    errorsPage(),
    await metricsPage(),
    kafkaApisPage(),
    commandsPage(),
    troubleshootingPage(),
    await restAccessPage(),
  ].map(page => [page.name, pageText(page)]),
)
mkdirSync(folder, { recursive: true })
const present = new Map(readdirSync(folder).map(name => [name, readFileSync(join(folder, name), 'utf8')]))
const stale = [...new Set([...pages.keys(), ...present.keys()])].filter(name => pages.get(name) !== present.get(name))
const dashboardFile = fileURLToPath(new URL('../deploy/grafana/lockstep.json', import.meta.url))
const dashboardText = `${JSON.stringify(dashboard(), undefined, 2)}\n`
const dashboardIsStale = !existsSync(dashboardFile) || readFileSync(dashboardFile, 'utf8') !== dashboardText

if (values.check === true) {
  for (const name of stale) console.error(`docs/generated/${name} is stale: run npm run generate:docs`)
  if (dashboardIsStale) console.error('deploy/grafana/lockstep.json is stale: run npm run generate:docs')
  process.exitCode = stale.length === 0 && !dashboardIsStale ? 0 : 1
} else {
  for (const name of stale) {
    const text = pages.get(name)
    if (text === undefined) rmSync(join(folder, name))
    else writeFileSync(join(folder, name), text)
  }
  if (dashboardIsStale) writeFileSync(dashboardFile, dashboardText)
  console.log(`${pages.size} pages, ${stale.length} of them changed`)
}
