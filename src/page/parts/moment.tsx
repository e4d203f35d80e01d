/** A moment in the viewer's zone, in UTC on hover; used wherever a time is shown. */
import { localTime, utcTime } from '../text/times.ts'

export function Moment({ ms, none = '–' }: { readonly ms: number | null | undefined; readonly none?: string }) {
  if (ms === null || ms === undefined) return <>{none}</>
  return (
    <time class="moment" dateTime={new Date(ms).toISOString()} title={utcTime(ms)}>
      {localTime(ms)}
    </time>
  )
}
