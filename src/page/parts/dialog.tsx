/** A dialog over the page: Escape closes it, the focus stays in it and goes back afterwards. Actions are shown in it. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Button } from './button.tsx'

interface DialogProps {
  readonly title: string
  readonly close: () => void
  readonly children: ComponentChildren
  /** Buttons at its foot. */
  readonly foot?: ComponentChildren
  readonly isWide?: boolean
}

export function Dialog({ title, close, children, foot, isWide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const before = document.activeElement
    element.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog ref={element} class={`dialog ${isWide ? 'wide' : ''}`} aria-labelledby={id} onClose={close}>
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        <Button tone="quiet" label="Close" onClick={close}>
          ✕
        </Button>
      </header>
      <div class="dialog-body">{children}</div>
      {foot ? <footer class="dialog-foot">{foot}</footer> : null}
    </dialog>
  )
}
