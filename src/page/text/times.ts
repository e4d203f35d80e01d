/** Moments as people read them: in the zone of whoever looks, and in UTC. Pure but for that zone. */

const timeOnly = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Without the date where it is today's. */
export function localTime(ms: number, nowMs = Date.now()): string {
  const isToday = new Date(ms).toDateString() === new Date(nowMs).toDateString()
  return (isToday ? timeOnly : dateAndTime).format(ms)
}

export const utcTime = (ms: number): string => new Date(ms).toISOString().replace('T', ' ').replace('Z', ' UTC')
