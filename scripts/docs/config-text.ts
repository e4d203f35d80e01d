/** Values of config rows as documentation shows them; called by the pages of properties. */
import type { ConfigRow } from '../../src/core/config-rows.ts'
import { code } from './markdown.ts'

/** Empty = not set, or required. */
export const defaultText = (row: ConfigRow<unknown>): string =>
  row.default === undefined ? '' : code(row.format(row.default))
