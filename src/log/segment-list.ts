/** The segments of one log in the order of their offsets; readers hold on to the array they got, changes make a new one. */
import assert from 'node:assert/strict'
import type { Segment } from './segment.ts'

export class SegmentList {
  #segments: readonly Segment[] = []

  get all(): readonly Segment[] {
    return this.#segments
  }

  /** The one that appends go to. */
  get active(): Segment {
    const last = this.#segments.at(-1)
    assert(last, 'a log has at least one segment')
    return last
  }

  get first(): Segment {
    const first = this.#segments[0]
    assert(first, 'a log has at least one segment')
    return first
  }

  get sizeBytes(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.sizeBytes, 0)
  }

  add(segment: Segment): void {
    assert(this.#segments.every(other => other.baseOffset < segment.baseOffset))
    this.#segments = [...this.#segments, segment]
  }

  /** Takes a new segment in at its place, below or between others. */
  insert(segment: Segment): void {
    assert(this.#segments.every(other => other.baseOffset !== segment.baseOffset))
    this.#segments = [...this.#segments, segment].sort((a, b) => a.baseOffset - b.baseOffset)
  }

  /** Puts one segment in the place of neighbours, the first of which begins where it does. */
  replace(replaced: readonly Segment[], by: Segment): void {
    assert(replaced[0]?.baseOffset === by.baseOffset)
    this.#segments = this.#segments.flatMap(segment => {
      if (segment === replaced[0]) return [by]
      return replaced.includes(segment) ? [] : [segment]
    })
  }

  /** Takes segments out of the list; their files stay. */
  drop(condemned: readonly Segment[]): void {
    this.#segments = this.#segments.filter(segment => !condemned.includes(segment))
  }

  /** Index of the segment that covers `offset`: the last one that starts at or below it; 0 if all start above. */
  indexFor(offset: number): number {
    let low = 0
    let high = this.#segments.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#segments[middle] as Segment).baseOffset <= offset) low = middle
      else high = middle - 1
    }
    return low
  }
}
