/** Every property of a link: what it does, its value and default, and changing it; a change is checked by the node before it is made. */
import { useSignal } from '@preact/signals'
import type { LinkConfigData, LinkConfigDataList, LinkReport } from '../../rest/schemas/links.ts'
import { call } from '../api/api-client.ts'
import { linkPath } from '../api/paths.ts'
import { refreshSoon } from '../live/cluster-state.ts'
import { Button } from '../parts/button.tsx'
import { useLoaded } from '../parts/loaded.ts'
import { Failure, Nothing, Notice } from '../parts/notice.tsx'
import { TextField } from '../parts/text-field.tsx'

export function LinkConfiguration({ link }: { readonly link: string }) {
  const text = useSignal('')
  const onlySet = useSignal(true)
  const loaded = useLoaded(signal => call<LinkConfigDataList>('GET', linkPath(link, 'configs'), { signal }), link)
  const all = loaded.value.value?.data
  if (!all) return loaded.error.value ? <Failure error={loaded.error.value} /> : <Nothing>Asking the node…</Nothing>
  const part = text.value.trim().toLowerCase()
  const isShown = (config: LinkConfigData) =>
    part === ''
      ? !onlySet.value || !config.is_default
      : `${config.name} ${config.documentation}`.toLowerCase().includes(part)
  const shown = all.filter(isShown)
  return (
    <section class="stack tight" aria-label="Configuration">
      <div class="tools">
        <input
          type="search"
          class="filter"
          placeholder="Find a property, or what it does"
          aria-label="Find a property"
          value={text.value}
          onInput={event => (text.value = event.currentTarget.value)}
        />
        <label class="check">
          <input type="checkbox" checked={onlySet.value} onClick={() => (onlySet.value = !onlySet.value)} />
          Only what was set
        </label>
        <span class="muted" role="status">
          {shown.length} of {all.length} properties
        </span>
      </div>
      <ul class="card rows">
        {shown.map(config => (
          <Property key={config.name} link={link} config={config} reload={loaded.reload} />
        ))}
        {shown.length === 0 ? <Nothing>No property matches.</Nothing> : null}
      </ul>
    </section>
  )
}

interface PropertyProps {
  readonly link: string
  readonly config: LinkConfigData
  readonly reload: () => Promise<void>
}

function Property({ link, config, reload }: PropertyProps) {
  const { edited, error, report, change } = useChange({ link, config, reload })
  const { warnings = [], cleared_configs: cleared = [] } = report.value ?? {}
  return (
    <li>
      <div class="row-line">
        <h3 class="mono">{config.name}</h3>
        <span class="row-end">
          {config.is_read_only ? <span class="muted">fixed at creation</span> : null}
          {config.is_read_only || edited.value !== undefined ? null : (
            <Button label={`Change: ${config.name}`} onClick={() => (edited.value = config.value ?? '')}>
              Change
            </Button>
          )}
          {config.is_read_only || config.is_default ? null : (
            <Button tone="quiet" label={`Reset: ${config.name} to its default`} onClick={() => change(undefined)}>
              Reset
            </Button>
          )}
        </span>
      </div>
      {edited.value === undefined ? (
        <p class="property-value">
          <Value config={config} />
        </p>
      ) : (
        <form
          class="property-form"
          onSubmit={event => {
            event.preventDefault()
            void change(edited.value ?? '')
          }}
        >
          <TextField
            label={`New value of ${config.name}`}
            isSecret={config.is_sensitive}
            hidesLabel
            value={edited.value}
            change={text => (edited.value = text)}
          />
          <Button type="submit" tone="primary">
            Save
          </Button>
          <Button tone="quiet" onClick={() => (edited.value = undefined)}>
            Cancel
          </Button>
        </form>
      )}
      <Failure error={error.value} />
      {warnings.map(warning => (
        <Notice key={warning} tone="warn">
          {warning}
        </Notice>
      ))}
      {cleared.length > 0 ? <Notice tone="warn">Cleared with it: {cleared.join(', ')}</Notice> : null}
      <p class="muted">
        {config.documentation} <Default config={config} />
      </p>
    </li>
  )
}

/** A change of the property: checked by the node first, then made. */
function useChange({ link, config, reload }: PropertyProps) {
  const edited = useSignal<string | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const report = useSignal<LinkReport | undefined>(undefined)
  const change = async (value: string | undefined) => {
    const data = [{ name: config.name, ...(value === undefined ? { operation: 'DELETE' } : { value }) }]
    try {
      const path = `${linkPath(link, 'configs')}:alter`
      await call('PUT', path, { query: { validate_only: 'true' }, body: { data } })
      report.value = await call<LinkReport>('PUT', path, { query: { report: 'true' }, body: { data } })
      error.value = undefined
      edited.value = undefined
      await reload()
      refreshSoon()
    } catch (problem) {
      error.value = problem
    }
  }
  return { edited, error, report, change }
}

function Value({ config }: { readonly config: LinkConfigData }) {
  if (config.is_sensitive) return <span class="muted">{config.is_default ? 'not set' : 'set, and never shown'}</span>
  if (config.value === null || config.value === '')
    return <span class="muted">{config.is_default ? 'not set' : 'empty'}</span>
  return (
    <>
      <code>{config.value}</code>
      {config.is_default ? <span class="muted"> (default)</span> : null}
    </>
  )
}

function Default({ config }: { readonly config: LinkConfigData }) {
  const parts = [
    config.type,
    ...(config.allowed_values === null ? [] : [config.allowed_values]),
    ...(config.default_value === null || config.default_value === '' || config.is_default
      ? []
      : [`default ${config.default_value}`]),
  ]
  return <span class="property-facts">{parts.join(' · ')}</span>
}
