/** The fields of a new link. Part of the dialog that creates it. */
import type { Signal } from '@preact/signals'
import { TextField } from '../parts/text-field.tsx'
import { type LinkDraft, usesLogin } from './link-draft.ts'

const PROTOCOLS = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL']
const MECHANISMS = ['SCRAM-SHA-512', 'SCRAM-SHA-256', 'PLAIN']

type TextKey = 'name' | 'bootstrap' | 'user' | 'password' | 'prefix'

export function LinkFields({ draft }: { readonly draft: Signal<LinkDraft> }) {
  const change = (part: Partial<LinkDraft>) => (draft.value = { ...draft.peek(), ...part })
  const text = (key: TextKey, label: string, more: { readonly hint?: string; readonly isSecret?: boolean } = {}) => (
    <TextField label={label} value={draft.value[key]} change={value => change({ [key]: value })} {...more} />
  )
  const choice = (key: 'protocol' | 'mechanism', label: string, options: readonly string[]) => (
    <label class="field">
      <span>{label}</span>
      <select value={draft.value[key]} onChange={event => change({ [key]: event.currentTarget.value })}>
        {options.map(option => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </label>
  )
  const flag = (key: 'syncsOffsets' | 'createsMirrors' | 'isTwoWay', label: string) => (
    <label class="check">
      <input type="checkbox" checked={draft.value[key]} onClick={() => change({ [key]: !draft.peek()[key] })} />
      {label}
    </label>
  )
  return (
    <div class="fields">
      {text('name', 'Name of the link')}
      {text('bootstrap', 'Addresses of the other cluster', { hint: 'host:9092, host:9092' })}
      {choice('protocol', 'Security', PROTOCOLS)}
      {usesLogin(draft.value) ? (
        <>
          {choice('mechanism', 'Mechanism', MECHANISMS)}
          {text('user', 'User there')}
          {text('password', 'Password there', { isSecret: true })}
        </>
      ) : null}
      {text('prefix', 'Prefix of the names of mirrors', { hint: 'none' })}
      {flag('syncsOffsets', 'Keep the offsets of all groups in step')}
      {flag('createsMirrors', 'Mirror every topic, also new ones, without asking')}
      {flag('isTwoWay', 'Bidirectional: topics can be restored and change roles')}
      <label class="field whole">
        <span>More properties, one a line</span>
        <textarea
          rows={2}
          placeholder="acl.sync.enable=true"
          value={draft.value.more}
          onInput={event => change({ more: event.currentTarget.value })}
        />
      </label>
    </div>
  )
}
