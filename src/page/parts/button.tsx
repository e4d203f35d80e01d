/** A button, and a link that looks like one; used everywhere. */
import type { ComponentChildren } from 'preact'

interface ButtonProps {
  readonly children: ComponentChildren
  readonly onClick?: (event: MouseEvent) => void
  readonly tone?: 'plain' | 'primary' | 'danger' | 'quiet'
  readonly disabled?: boolean
  readonly type?: 'button' | 'submit'
  /** What it is called where the children do not say it. */
  readonly label?: string
  /** What it does, for those who point at it. */
  readonly hint?: string
  readonly pressed?: boolean
}

export function Button({ children, onClick, tone = 'plain', disabled = false, ...rest }: ButtonProps) {
  const { type = 'button', label, hint = label, pressed } = rest
  return (
    <button
      type={type}
      class={`button ${tone}`}
      disabled={disabled}
      {...(onClick ? { onClick } : {})}
      {...(label === undefined ? {} : { 'aria-label': label })}
      {...(hint === undefined ? {} : { title: hint })}
      {...(pressed === undefined ? {} : { 'aria-pressed': pressed })}
    >
      {children}
    </button>
  )
}
