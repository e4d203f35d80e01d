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

/** Nothing without an error. */
export function Failure({ error }: { readonly error: unknown }) {
  if (error === undefined || error === null) return null
  return (
    <Notice tone="bad">
      <strong>{messageOf(error)}</strong>
      {error instanceof ApiError && error.hint !== undefined ? <span> {error.hint}</span> : null}
    </Notice>
  )
}

export function Nothing({ children }: { readonly children: ComponentChildren }) {
  return <p class="nothing">{children}</p>
}
