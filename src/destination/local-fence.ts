/** The WriteFence of a standalone node: everybody comes through its write gate, so a release is only a new leader epoch. */
import type { Uuid } from '../core/uuid.ts'
import type { ReleaseOutlook, ReleaseRequest, WriteFence } from '../link/ports.ts'
import type { Controller } from '../metadata/controller-port.ts'

export class LocalFence implements WriteFence {
  readonly hasOtherLeaders = false
  readonly parkedConfigs: ReadonlySet<string> = new Set()
  readonly #controller: Pick<Controller, 'image' | 'bumpLeaderEpoch'>

  constructor(controller: Pick<Controller, 'image' | 'bumpLeaderEpoch'>) {
    this.#controller = controller
  }

  async restore(): Promise<readonly string[]> {
    return []
  }

  async forget(): Promise<void> {}

  async stage(): Promise<undefined> {
    return undefined
  }

  async unstage(): Promise<void> {}

  async shut(): Promise<void> {}

  enclose(topicId: Uuid): Promise<void> {
    return this.#beginEpochs(topicId)
  }

  onDisturbed(): () => void {
    return () => {}
  }

  isTakenAway(): boolean {
    return false
  }

  async outlook(): Promise<ReleaseOutlook> {
    return { obstacles: new Map(), warnings: [] }
  }

  plan(_topicId: Uuid): string {
    return ''
  }

  async release({ topicId }: ReleaseRequest): Promise<readonly string[]> {
    await this.#beginEpochs(topicId)
    return []
  }

  async #beginEpochs(topicId: Uuid): Promise<void> {
    const topic = this.#controller.image.topics.get(topicId)
    for (const partition of topic?.partitions.keys() ?? []) await this.#controller.bumpLeaderEpoch(topicId, partition)
  }
}
