// One link of a Lockstep node, driven through REST; used by the mirror and client scenarios.
import { strictEqual } from 'node:assert/strict'
import { eventually } from '../eventually.ts'
import type { LockstepNode } from '../lockstep-process.ts'

/** A mirror as REST shows it (KafkaMirrorData); only what scenarios look at. */
export interface MirrorData {
  readonly kind: string
  readonly link_name: string
  readonly mirror_topic_name: string
  readonly source_topic_name: string
  readonly num_partitions: number
  readonly mirror_lags: readonly {
    readonly partition: number
    readonly lag: number | null
    readonly last_source_fetch_offset: number
  }[]
  readonly mirror_status: string
  readonly mirror_topic_error?: string
  readonly reason?: string | null
}

/** A row of the answer to a verb (AlterMirrorsData). */
export interface AlterMirrorRow {
  readonly mirror_topic_name: string
  readonly error_code: number | null
  readonly error_message: string | null
  readonly open_transactions?: number
}

/** The remote cluster of a link. */
export interface Remote {
  readonly bootstrap: string
  readonly clusterId: string
}

/** A link that exists on the node. */
export class MirrorLink {
  readonly name: string
  readonly #node: LockstepNode

  private constructor(node: LockstepNode, name: string) {
    this.#node = node
    this.name = name
  }

  /** Creates a link, pinned to the remote's cluster id. */
  static async create(node: LockstepNode, name: string, remote: Remote): Promise<MirrorLink> {
    await node.rest.call('POST', `/links?link_name=${name}`, {
      source_cluster_id: remote.clusterId,
      configs: [{ name: 'bootstrap.servers', value: remote.bootstrap }],
    })
    return new MirrorLink(node, name)
  }

  /** Creates a mirror topic of the same name. */
  async mirror(topic: string, configs: Readonly<Record<string, string>> = {}): Promise<void> {
    const entries = Object.entries(configs).map(([name, value]) => ({ name, value }))
    const body = { source_topic_name: topic, ...(entries.length > 0 ? { configs: entries } : {}) }
    await this.#node.rest.call('POST', `/links/${this.name}/mirrors`, body)
  }

  async describe(topic: string): Promise<MirrorData> {
    return (await this.#node.rest.call('GET', `/links/${this.name}/mirrors/${topic}`)) as MirrorData
  }

  /** Fails topics over, and waits until they are STOPPED; throws when a row has an error. */
  async failOver(topics: readonly string[]): Promise<AlterMirrorRow[]> {
    const path = `/links/${this.name}/mirrors:failover`
    const answer = (await this.#node.rest.call('POST', path, { mirror_topic_names: topics })) as {
      readonly data: AlterMirrorRow[]
    }
    for (const row of answer.data) strictEqual(row.error_code ?? 0, 0, `${row.mirror_topic_name}: ${row.error_message}`)
    for (const topic of topics) await this.waitForStatus(topic, 'STOPPED')
    return answer.data
  }

  async waitForStatus(topic: string, status: string): Promise<void> {
    await eventually(async () => {
      const mirror = await this.describe(topic)
      strictEqual(mirror.mirror_status, status, mirror.reason ?? '')
    })
  }
}
