/** What the automatic creation of one link remembers between its rounds; kept over connections by the link runtime. */
import type { TaskError } from '../tasks/sync-task.ts'

export class AutoCreation {
  /** Why the last attempt at a source topic failed, by its name. */
  attempts: ReadonlyMap<string, TaskError> = new Map()
  /** Names of the source's topics when they were last listed. */
  listed: ReadonlySet<string> = new Set()
}
