/** Is there little room? Parts that show less then ask. */
import { signal } from '@preact/signals'

const query = matchMedia('(max-width: 720px)')
export const isNarrow = signal(query.matches)
query.addEventListener('change', () => {
  isNarrow.value = query.matches
})
