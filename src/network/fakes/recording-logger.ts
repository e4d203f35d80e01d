/** A logger that keeps its lines; tests read what an operator would. */
import type { Logger } from '../../core/logger.ts'

export class RecordingLogger implements Logger {
  readonly lines: string[] = []

  debug(message: string): void {
    this.lines.push(`debug ${message}`)
  }

  info(message: string): void {
    this.lines.push(`info ${message}`)
  }

  warn(message: string): void {
    this.lines.push(`warn ${message}`)
  }

  error(message: string, fields?: Record<string, unknown>): void {
    this.lines.push(`error ${message}${fields?.['error'] ? ` (${fields['error']})` : ''}`)
  }

  child(): Logger {
    return this
  }
}
