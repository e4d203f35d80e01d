/** The events that the fixed node sends. */
import { FIXED_TIME_MS } from './fixed-shapes.ts'

const event = (id: number, type: string, data: object) =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ type, time_ms: FIXED_TIME_MS + id, link_name: 'west', ...data })}\n\n`

export const FIXED_EVENTS = [
  ': a heartbeat\n\n',
  event(7, 'state', {
    mirror_topic_name: 'orders',
    mirror_status: 'PAUSED',
    previous_status: 'ACTIVE',
    event: 'pause',
    reason: 'asked for',
  }),
  event(8, 'task', {
    task_name: 'AclSync',
    state: 'IN_ERROR',
    errors: [{ error_code: 'SECURITY_DISABLED_ERROR', error_message: 'the source has no authorizer' }],
  }),
  event(9, 'link', { link_state: 'ACTIVE', link_error: 'NO_ERROR', link_error_message: null }),
  event(10, 'lag', {
    max_lag: 1234,
    max_lag_ms: 8638,
    topics: [{ mirror_topic_name: 'orders', max_lag: 1234, total_lag: 1234, lag_ms: 8638 }],
  }),
  event(11, 'missed', { message: 'events before this one are not known any more' }),
].join('')
