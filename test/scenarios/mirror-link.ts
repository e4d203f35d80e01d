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
    readonly lag_ms: number | null
    readonly last_source_fetch_offset: number
    readonly log_start_offset: number | null
    readonly log_end_offset: number | null
    readonly partition_state: string
    readonly reason: string | null
  }[]
  readonly mirror_status: string
  readonly mirror_topic_error?: string
  readonly reason?: string | null
}

/** An entry of a mirror's history (KafkaMirrorStateChange). */
export interface HistoryEntry {
  readonly mirror_status: string
  readonly event: string
  readonly reason: string
}

/** A link as REST shows it (KafkaLinkData); only what scenarios look at. */
export interface LinkData {
  readonly link_state: string
  readonly link_error: string
  readonly link_error_message: string | null
}

/** A row of the answer to a verb (AlterMirrorsData). */
export interface AlterMirrorRow {
  readonly mirror_topic_name: string
  readonly error_code: number | null
  readonly error_message: string | null
  readonly open_transactions?: number
  readonly warnings?: readonly string[]
  readonly messages_truncated?: number | null
  readonly partition_level_truncation_data?: readonly {
    readonly partition_id: number
    readonly offset_truncated_to: number
    readonly messages_truncated: number
  }[]
}

/** The remote cluster of a link. */
export interface Remote {
  readonly bootstrap: string
  /** Without it the link pins the id that it reads. */
  readonly clusterId?: string
}

/** Properties by name. */
type Configs = Readonly<Record<string, string>>

const entriesOf = (configs: Configs) => Object.entries(configs).map(([name, value]) => ({ name, value }))

/** A link that exists on the node. */
export class MirrorLink {
  readonly name: string
  readonly #node: LockstepNode

  private constructor(node: LockstepNode, name: string) {
    this.#node = node
    this.name = name
  }

  /** A link that somebody else created. */
  static of(node: LockstepNode, name: string): MirrorLink {
    return new MirrorLink(node, name)
  }

  /** Creates a link to the remote. */
  static async create(node: LockstepNode, name: string, remote: Remote & { configs?: Configs }): Promise<MirrorLink> {
    await node.rest.call('POST', `/links?link_name=${name}`, {
      source_cluster_id: remote.clusterId,
      configs: entriesOf({ 'bootstrap.servers': remote.bootstrap, ...remote.configs }),
    })
    return new MirrorLink(node, name)
  }

  /** Creates one side of a bidirectional link. */
  static async createSide(
    node: LockstepNode,
    name: string,
    remote: Remote & { configs?: Configs },
  ): Promise<MirrorLink> {
    const configs = { 'bootstrap.servers': remote.bootstrap, 'link.mode': 'BIDIRECTIONAL', ...remote.configs }
    await node.rest.call('POST', `/links?link_name=${name}`, {
      remote_cluster_id: remote.clusterId,
      configs: entriesOf(configs),
    })
    return new MirrorLink(node, name)
  }

  /** Creates a mirror topic of the same name. */
  async mirror(topic: string, configs: Configs = {}): Promise<void> {
    const entries = entriesOf(configs)
    const body = { source_topic_name: topic, ...(entries.length > 0 ? { configs: entries } : {}) }
    await this.#node.rest.call('POST', `/links/${this.name}/mirrors`, body)
  }

  async describe(topic: string): Promise<MirrorData> {
    return (await this.#node.rest.call('GET', `/links/${this.name}/mirrors/${topic}`)) as MirrorData
  }

  /** State changes and incidents, the newest first. */
  async history(topic: string): Promise<readonly HistoryEntry[]> {
    const answer = await this.#node.rest.call('GET', `/links/${this.name}/mirrors/${topic}/history`)
    return (answer as { readonly data: HistoryEntry[] }).data
  }

  async describeLink(): Promise<LinkData> {
    return (await this.#node.rest.call('GET', `/links/${this.name}`)) as LinkData
  }

  /** Changes properties of the link. */
  async alter(configs: Configs): Promise<void> {
    await this.#node.rest.call('PUT', `/links/${this.name}/configs:alter`, { data: entriesOf(configs) })
  }

  /** A verb on the named mirrors, or on those that match; a refused topic is a row. */
  async ask(verb: string, which: readonly string[] | { readonly pattern: string }): Promise<AlterMirrorRow[]> {
    const body = 'pattern' in which ? { mirror_topic_name_pattern: which.pattern } : { mirror_topic_names: which }
    const answer = await this.#node.rest.call('POST', `/links/${this.name}/mirrors:${verb}`, body)
    return (answer as { readonly data: AlterMirrorRow[] }).data
  }

  /** Truncate-and-restore, with what is cut off by partition. */
  async restore(
    topic: string,
    { validateOnly = false, ...body }: { validateOnly?: boolean; paused?: boolean; export_divergent?: boolean } = {},
  ): Promise<AlterMirrorRow | undefined> {
    const query = `validate_only=${validateOnly}&include_partition_level_truncation_data=true`
    const path = `/links/${this.name}/mirrors:truncate-and-restore?${query}`
    const answer = await this.#node.rest.call('POST', path, { mirror_topic_names: [topic], ...body })
    return (answer as { readonly data: AlterMirrorRow[] }).data[0]
  }

  /** Like `ask`, and throws when a row has an error. */
  async must(verb: string, which: readonly string[] | { readonly pattern: string }): Promise<AlterMirrorRow[]> {
    const rows = await this.ask(verb, which)
    for (const row of rows) strictEqual(row.error_code ?? 0, 0, `${row.mirror_topic_name}: ${row.error_message}`)
    return rows
  }

  /** Fails topics over, and waits until they are STOPPED; throws when a row has an error. */
  async failOver(topics: readonly string[]): Promise<AlterMirrorRow[]> {
    const rows = await this.must('failover', topics)
    for (const topic of topics) await this.waitForStatus(topic, 'STOPPED')
    return rows
  }

  /** Resolves to the mirror in that state. */
  async waitForStatus(topic: string, status: string): Promise<MirrorData> {
    return eventually(async () => {
      const mirror = await this.describe(topic)
      strictEqual(mirror.mirror_status, status, mirror.reason ?? '')
      return mirror
    })
  }

  /** Resolves to the link in that state. */
  async waitForState(state: string): Promise<LinkData> {
    return eventually(async () => {
      const link = await this.describeLink()
      strictEqual(link.link_state, state, link.link_error_message ?? '')
      return link
    })
  }
}
