/** What our node has acknowledged, and what must therefore hold from then on, whatever is killed. Kept by the actions, read by the checks. */
import type { Uuid } from '../../src/core/uuid.ts'
import type { MirrorVerb } from '../../src/link/engine-api.ts'
import type { LinkName } from './link-names.ts'

/** An acknowledged result of the last verb on a mirror; forgotten when the next one is asked for. */
export type Acknowledged = 'created' | 'paused' | 'resumed' | 'promoted' | 'stopped'

export class Promises {
  /** By mirror topic name. */
  readonly mirrors = new Map<string, Acknowledged>()
  /** Acknowledged properties of the link; a property is left out while a change of it is not answered. */
  readonly configs = new Map<string, string>()
  /** Topics for which a failover was asked for, acknowledged or not. */
  readonly failingOver = new Set<Uuid>()
  /** Topics for which a promote was asked for. */
  readonly promoting = new Set<Uuid>()
  /** What was acknowledged last of each link. */
  readonly links = new Map<LinkName, 'created' | 'deleted'>()
  /** A creation or deletion of a link that is not answered: there is one at a time. */
  linkChange: symbol | undefined
  /** Mirrors whose source is not the one that they are copies of, with what a resume was told. */
  readonly cannotResume = new Map<string, string>()
  /** Alterations of the link so far: only the last one's outcome is certain. */
  alterations = 0
  /** Verbs so far, by mirror: an answer counts only while no other verb was asked for after it. */
  readonly #open = new Set<{
    readonly topic: string
    readonly asked: number
    readonly process: { readonly killed: boolean }
  }>()
  readonly #asked = new Map<string, number>()

  /** Their topics were deleted: what is answered about them still ends with them. */
  readonly #deleted = new Set<string>()

  /** A verb goes out: until it is answered either outcome is right. Returns what `answered` wants. */
  asked(topic: string, verb: MirrorVerb | 'create' | 'delete', process?: { readonly killed: boolean }): number {
    if (this.mirrors.get(topic) !== 'stopped') this.mirrors.delete(topic)
    if (verb === 'delete') {
      this.mirrors.delete(topic)
      this.#deleted.add(topic)
    }
    const count = (this.#asked.get(topic) ?? 0) + 1
    this.#asked.set(topic, count)
    if (process) this.#open.add({ topic, asked: count, process })
    return count
  }

  /** It was answered, whatever the answer was. */
  settled(topic: string, asked: number): void {
    for (const open of this.#open) if (open.topic === topic && open.asked === asked) this.#open.delete(open)
  }

  /** One that was asked for before may come through later: some ask the source first. */
  #mayBeOvertaken(topic: string, asked: number): boolean {
    return [...this.#open].some(open => open.topic === topic && open.asked !== asked && !open.process.killed)
  }

  answered(topic: string, asked: number, acknowledged: Acknowledged): void {
    if (acknowledged === 'created') this.#deleted.delete(topic)
    const isCertain = this.#asked.get(topic) === asked && !this.#mayBeOvertaken(topic, asked)
    if (isCertain && !this.#deleted.has(topic)) this.mirrors.set(topic, acknowledged)
  }
}
