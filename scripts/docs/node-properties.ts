/** docs/generated/node-properties.md: Lockstep's own properties of a node and those of Kafka that have an effect. */
import { type ConfigRow, rangeText } from '../../src/core/config-rows.ts'
import { ownDefaults } from '../../src/metadata/applied-properties.ts'
import { brokerConfigs } from '../../src/metadata/broker-configs.ts'
import type { KafkaProperty } from '../../src/metadata/kafka-property.ts'
import { ownProperties } from '../../src/node/own-properties.ts'
import { defaultText } from './config-text.ts'
import { code, type Page, plain, table } from './markdown.ts'

/** Where and how a Kafka property may change while the node runs. */
const DYNAMIC = { broker: 'per broker', cluster: 'per broker or for all' } as const

/** The page. */
export function nodePropertiesPage(): Page {
  const own = Object.entries<ConfigRow<unknown>>(ownProperties as unknown as Record<string, ConfigRow<unknown>>)
  const configs = [...brokerConfigs.values()]
  const applied = configs.filter(config => config.applied)
  return {
    name: 'node-properties.md',
    title: 'Properties of a node',
    sources: ['src/node/own-properties.ts', 'src/metadata/broker-configs.ts', 'src/metadata/applied-properties.ts'],
    body: [
      'Read from the file of `lockstep server --config FILE`.',
      '## Of Lockstep',
      table(
        ['property', 'type', 'default', 'allowed', 'meaning'],
        own.map(([name, row]) => [code(name), row.type, defaultText(row), plain(row.allowed ?? ''), plain(row.doc)]),
      ),
      '## Of Kafka',
      `${applied.length} of Kafka's properties have an effect here. The other ${configs.length - applied.length} that Kafka 4.3.1 knows are accepted with one warning, so that a file written for Kafka can be used; names that it does not know are refused, with the nearest one that it does.`,
      table(
        ['property', 'type', 'default', 'allowed', 'changes while running', 'meaning'],
        applied.map(({ name, property, row }) => [
          code(name),
          property.type,
          code(ownDefaults[name] ?? property.default ?? ''),
          plain(allowedText(property)),
          property.dynamic === undefined ? '' : DYNAMIC[property.dynamic],
          plain(row.doc),
        ]),
      ),
    ].join('\n\n'),
  }
}

function allowedText(property: KafkaProperty): string {
  const { values, itemForm, also } = property
  if (values !== undefined) return values.join(', ')
  if (itemForm !== undefined) return itemForm.words
  const range = rangeText(property)
  return range !== undefined && also !== undefined ? `${range}, or ${also}` : (range ?? '')
}
