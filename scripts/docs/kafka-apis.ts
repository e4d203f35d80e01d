/** docs/generated/kafka-apis.md: the Kafka APIs that a node serves, from the broker's dispatch table. */
import { handlers } from '../../src/broker/handlers/table.ts'
import { allApis, apiOf } from '../../src/protocol/api-registry.ts'
import type { VersionRange } from '../../src/protocol/schema/version-range.ts'
import { code, type Page, table } from './markdown.ts'

/** The page. */
export function kafkaApisPage(): Page {
  const served = new Set(handlers.map(({ key }) => key))
  const others = allApis.filter(({ key }) => !served.has(key)).map(({ key, name }) => `${name} (${key})`)
  return {
    name: 'kafka-apis.md',
    title: 'Kafka APIs',
    sources: ['src/broker/handlers/table.ts'],
    body: [
      'Served on the Kafka listeners. The announced versions are what ApiVersions tells clients, where that differs.',
      table(
        ['key', 'API', 'versions', 'announced', 'versions of Kafka 4.3.1'],
        handlers.map(({ key, name, versions, announced }) => [
          String(key),
          code(name),
          rangeOf(versions),
          rangeOf(announced) === rangeOf(versions) ? '' : rangeOf(announced),
          kafkaRange(key),
        ]),
      ),
      `Known and not served: ${others.join(', ')}.`,
    ].join('\n\n'),
  }
}

const rangeOf = ({ min, max }: VersionRange): string => (min === max ? String(min) : `${min}-${max}`)

function kafkaRange(key: number): string {
  const versions = apiOf(key)?.request.versions
  return versions === undefined ? '' : rangeOf(versions)
}
