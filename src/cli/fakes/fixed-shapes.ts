/** Shapes that the answers of the fixed node share. */

export const FIXED_TIME_MS = 1_795_998_664_931

export const list = (data: readonly object[]) => ({ kind: 'List', metadata: { self: '', next: null }, data })

export const fixedConfig = (name: string, value: string | null, change: object = {}) => ({
  cluster_id: 'fixed',
  name,
  value,
  is_default: false,
  is_read_only: false,
  is_sensitive: false,
  source: 'DYNAMIC_CLUSTER_LINK_CONFIG',
  synonyms: [],
  ...change,
})
