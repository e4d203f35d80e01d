/** Something that is asked of the node when a part is shown, now and then again, and on demand. */
import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

export interface Loaded<T> {
  readonly value: Signal<T | undefined>
  readonly error: Signal<unknown>
  readonly reload: () => Promise<void>
}

/** `key`: another one asks anew. `everyMs`: absent = once. What was there stays while it cannot be asked. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, key: string, everyMs?: number): Loaded<T> {
  const value = useSignal<T | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const reload = async (signal: AbortSignal = new AbortController().signal) => {
    try {
      const found = await load(signal)
      if (signal.aborted) return
      value.value = found
      error.value = undefined
    } catch (problem) {
      if (!signal.aborted) error.value = problem
    }
  }
  useEffect(() => {
    const ended = new AbortController()
    value.value = undefined
    error.value = undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    // One question at a time, however slow the node is.
    const again = async () => {
      await reload(ended.signal)
      if (everyMs !== undefined && !ended.signal.aborted) timer = setTimeout(again, everyMs)
    }
    void again()
    return () => {
      ended.abort()
      clearTimeout(timer)
    }
  }, [key])
  return { value, error, reload: () => reload() }
}
