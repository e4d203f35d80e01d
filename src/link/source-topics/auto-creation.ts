/** What the automatic creation of one link remembers between its rounds; kept over connections by the link runtime. */
import type { TaskError } from '../tasks/sync-task.ts'

export class AutoCreation {
  /** Why the last attempt at a source topic failed, by its name. */
  attempts: ReadonlyMap<string, TaskError> = new Map()
  /** The source's topics when they were last listed: since when (monotonic) each has been seen, by name. */
  listed: ReadonlyMap<string, number> = new Map()
  /** Set: topics wait for their source to publish what they are; look again so soon. */
  settlesInMs: number | undefined

  sees(topics: readonly string[], nowMs: number): void {
    this.listed = new Map(topics.map(name => [name, this.listed.get(name) ?? nowMs]))
  }
}
