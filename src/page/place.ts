/** Where in the page somebody is, as the part of the address behind `#`; read by the frame, written by links. */
import { signal } from '@preact/signals'

export type Place =
  | { readonly view: 'overview' }
  | { readonly view: 'nodes' }
  | { readonly view: 'events' }
  | { readonly view: 'link'; readonly link: string; readonly tab: string; readonly status: string | undefined }
  | { readonly view: 'mirror'; readonly link: string; readonly topic: string }

/** What is not understood is the overview. */
export function parsePlace(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [view, link, tab, topic] = path.split('/').map(part => safelyDecoded(part))
  if (view === 'nodes' || view === 'events') return { view }
  if (view === 'links' && link) {
    if (tab === 'mirrors' && topic) return { view: 'mirror', link, topic }
    return { view: 'link', link, tab: tab || 'mirrors', status: new URLSearchParams(query).get('status') ?? undefined }
  }
  return { view: 'overview' }
}

function safelyDecoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export const place = signal<Place>(parsePlace(globalThis.location?.hash ?? ''))

export function followAddress(): void {
  addEventListener('hashchange', () => {
    place.value = parsePlace(location.hash)
  })
}
