/** Something that has to be said in place: an error with its hint, a warning, that there is nothing. */
import type { ComponentChildren } from 'preact'
import { ApiError, messageOf } from '../api/api-client.ts'

interface NoticeProps {
  readonly tone: 'bad' | 'warn' | 'good' | 'calm'
  readonly children: ComponentChildren
}

export function Notice({ tone, children }: NoticeProps) {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}

/** Nothing without an error. `hint`: instead of the one that the node gives, which does not know the page. */
export function Failure({ error, hint }: { readonly error: unknown; readonly hint?: string }) {
  if (error === undefined || error === null) return null
  const advice = hint ?? (error instanceof ApiError ? error.hint : undefined)
  return (
    <Notice tone="bad">
      <strong>{messageOf(error)}</strong>
      {advice === undefined ? null : <span> {advice}</span>}
    </Notice>
  )
}

export function Nothing({ children }: { readonly children: ComponentChildren }) {
  return <p class="nothing">{children}</p>
}
