/** A field for a line of text, or for a secret one, with its label; forms use it. */
import { useId } from 'preact/hooks'

interface TextFieldProps {
  readonly label: string
  readonly value: string
  readonly change: (text: string) => void
  readonly hint?: string
  readonly isSecret?: boolean
  /** The label is for those who do not see what is around it. */
  readonly hidesLabel?: boolean
}

export function TextField({ label, value, change, ...more }: TextFieldProps) {
  const { hint = '', isSecret = false, hidesLabel = false } = more
  const id = useId()
  const shared = {
    ...{ id, value, placeholder: hint, spellcheck: false },
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => change(event.currentTarget.value),
  }
  return (
    <div class="field">
      <label for={id} class={hidesLabel ? 'hidden' : ''}>
        {label}
      </label>
      {/* Never filled in by the browser: secrets are those of other clusters. */}
      {isSecret ? (
        <input type="password" autoComplete="new-password" {...shared} />
      ) : (
        <input autoComplete="off" {...shared} />
      )}
    </div>
  )
}
