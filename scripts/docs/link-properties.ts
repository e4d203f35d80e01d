/** docs/generated/link-properties.md: the properties of a link. */
import type { ConfigRow } from '../../src/core/config-rows.ts'
import { linkConfigKeys, linkConfigRows, linkConfigSynonyms } from '../../src/link/configs/link-config-rows.ts'
import { defaultText } from './config-text.ts'
import { code, type Page, plain, table, yesNo } from './markdown.ts'

/** The page. */
export function linkPropertiesPage(): Page {
  const rows: Readonly<Record<string, ConfigRow<unknown>>> = linkConfigRows as unknown as Record<
    string,
    ConfigRow<unknown>
  >
  const lines = linkConfigKeys.flatMap(key => {
    const row = rows[key]
    return row === undefined ? [] : [propertyLine(key, row)]
  })
  const synonyms = Object.entries(linkConfigSynonyms).map(([other, key]) => `${code(other)} for ${code(key)}`)
  return {
    name: 'link-properties.md',
    title: 'Properties of a link',
    sources: ['src/link/configs/link-config-rows.ts', 'src/link/configs/security-config-rows.ts'],
    body: [
      `Durations are in milliseconds, sizes in bytes. Also accepted: ${synonyms.join(', ')}.`,
      table(['property', 'type', 'default', 'allowed', 'may be changed', 'meaning'], lines),
    ].join('\n\n'),
  }
}

function propertyLine(key: string, row: ConfigRow<unknown>): string[] {
  const secret = row.sensitive ? ' Never shown.' : ''
  return [code(key), row.type, defaultText(row), plain(row.allowed ?? ''), yesNo(row.mutable), plain(row.doc) + secret]
}
