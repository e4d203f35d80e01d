/** A state as a coloured word, never by its colour alone; used for links, mirrors, partitions, tasks and nodes. */
import { statusWords } from '../text/figures.ts'

export type Tone = 'good' | 'warn' | 'bad' | 'calm' | 'busy'

/** Only how a state is painted; what it means and allows is the node's. */
const TONES: Readonly<Record<string, Tone>> = {
  ACTIVE: 'good',
  HEALTHY: 'good',
  SYNCED: 'good',
  PASSED: 'good',
  YES: 'good',
  EQUAL: 'good',
  COMPLETED: 'good',
  PAUSED: 'calm',
  LINK_PAUSED: 'calm',
  STOPPED: 'calm',
  NOT_CONFIGURED: 'calm',
  SKIPPED: 'calm',
  UNKNOWN: 'calm',
  CANCELLED: 'calm',
  WAITING: 'busy',
  RUNNING: 'busy',
  STARTING: 'busy',
  WARNING: 'warn',
  IN_USE: 'warn',
  CONFLICT: 'warn',
  INCOMPLETE: 'warn',
  LEAVING: 'warn',
}

export function toneOf(status: string): Tone {
  return TONES[status] ?? (status.startsWith('PENDING') ? 'busy' : 'bad')
}

interface StatusProps {
  readonly value: string
  readonly text?: string
  /** Something keeps it from what its state promises. */
  readonly isTroubled?: boolean
}

export function Status({ value, text, isTroubled = false }: StatusProps) {
  const tone = toneOf(value)
  if (isTroubled && tone === 'good') return <span class="status warn">{text ?? statusWords(value)}, in trouble</span>
  return <span class={`status ${tone}`}>{text ?? statusWords(value)}</span>
}
