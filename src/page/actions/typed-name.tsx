/** The confirmation of what cannot be taken back: its name has to be typed. Dialogs of such actions show it. */
import { type Signal, useSignal } from '@preact/signals'

export function TypedName({ name, isConfirmed }: { readonly name: string; readonly isConfirmed: Signal<boolean> }) {
  const text = useSignal('')
  return (
    <label class="field">
      <span>
        This cannot be taken back. Type <code>{name}</code> to confirm.
      </span>
      <input
        autoComplete="off"
        spellcheck={false}
        value={text.value}
        onInput={event => {
          text.value = event.currentTarget.value
          isConfirmed.value = text.value === name
        }}
      />
    </label>
  )
}
