/** ACLs that a link owns here. */
import { useComputed, useSignal } from '@preact/signals'
import type { LinkAclData, LinkAclDataList } from '../../rest/schemas/acls.ts'
import { call } from '../api/api-client.ts'
import { linkPath } from '../api/paths.ts'
import { Grid } from '../parts/grid.tsx'
import { type GridColumn, type GridOrder, inOrder } from '../parts/grid-column.ts'
import { useLoaded } from '../parts/loaded.ts'
import { Failure, Nothing } from '../parts/notice.tsx'
import { statusWords } from '../text/figures.ts'

const COLUMNS: readonly GridColumn<LinkAclData>[] = [
  {
    ...{ name: 'principal', head: 'Principal', width: 'minmax(0, 1fr)', isTitle: true, sortBy: row => row.principal },
    show: row => (
      <span class="cell-name">
        {row.principal}
        {row.has_login === false ? <span class="muted"> (no login here)</span> : null}
      </span>
    ),
  },
  {
    ...{ name: 'permission', head: 'May', width: 'minmax(120px, 0.6fr)', sortBy: row => row.operation },
    show: row => `${statusWords(row.permission)} ${statusWords(row.operation)}`,
  },
  {
    ...{ name: 'resource', head: 'Resource', width: 'minmax(0, 1fr)', sortBy: row => row.resource_name },
    show: row => (
      <span class="cell-name">
        {statusWords(row.resource_type)} {row.resource_name}
        {row.pattern_type === 'PREFIXED' ? '*' : ''}
      </span>
    ),
  },
  { ...{ name: 'host', head: 'From', width: '140px', isExtra: true }, show: row => row.host },
]

export function LinkAcls({ link }: { readonly link: string }) {
  const order = useSignal<GridOrder>({ column: 'principal', descending: false })
  const loaded = useLoaded(signal => call<LinkAclDataList>('GET', linkPath(link, 'acls'), { signal }), link, 10_000)
  const rows = useComputed(() => inOrder(loaded.value.value?.data ?? [], COLUMNS, order.value))
  if (!loaded.value.value && !loaded.error.value) return <Nothing>Asking the node…</Nothing>
  return (
    <section class="stack tight" aria-label="ACLs">
      <Failure error={loaded.error.value} />
      <Grid
        label={`ACLs of ${link}`}
        rows={rows.value}
        columns={COLUMNS}
        order={order}
        keyOf={row => JSON.stringify(row)}
        none="The link owns no ACLs. Copying them is switched on with acl.sync.enable and acl.filters."
      />
    </section>
  )
}
