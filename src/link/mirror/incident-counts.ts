/** How often which kind of incident happened on this node since it started; /metrics reads it. */
import { type IncidentKind, incidentKinds } from './partition-figures.ts'

export class IncidentCounts {
  readonly #counts = new Map<IncidentKind, number>(incidentKinds.map(kind => [kind, 0]))

  count(kind: IncidentKind): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1)
  }

  all(): ReadonlyMap<IncidentKind, number> {
    return this.#counts
  }
}
