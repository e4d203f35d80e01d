/** What happens to a mirror in the demos that end by themselves: it catches up, is failed over and written to; called by their scenes. */
import { sleep } from '../../core/clock.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import type { MirrorData } from '../../rest/schemas/mirrors.ts'
import { DemoError } from './demo-error.ts'
import type { DemoStage } from './demo-stage.ts'
import type { NodeProcess } from './node-process.ts'
import type { TopicClient } from './topic-client.ts'

const POLL_MS = 50
const STALL_MAX_MS = 30_000
const FAILOVER_MAX_MS = 60_000

/** The mirror of a scene, and a node to ask about it. */
export interface StagedMirror {
  readonly node: NodeProcess
  readonly link: string
  readonly topic: string
}

/** Waits until every partition has reached its end; no deadline as long as anything moves. */
export async function caughtUp(
  stage: DemoStage,
  { node, link, topic }: StagedMirror,
  endOffsets: readonly number[],
): Promise<void> {
  const { clock, signal } = stage
  let reached = -1
  let movedMs = clock.monotonicMs()
  for (;;) {
    signal.throwIfAborted()
    const mirror = await node.rest.mirror(link, topic)
    if (mirror.mirror_status === 'FAILED') throw new DemoError(`the mirror has failed: ${reasonOf(mirror)}`)
    const behind = mirror.mirror_lags.filter(
      ({ partition, lag, log_end_offset }) => lag !== 0 || log_end_offset !== endOffsets[partition],
    )
    if (behind.length === 0 && mirror.mirror_lags.length === endOffsets.length) return
    const sum = mirror.mirror_lags.reduce((total, { log_end_offset }) => total + (log_end_offset ?? 0), 0)
    if (sum !== reached) movedMs = clock.monotonicMs()
    reached = sum
    if (clock.monotonicMs() - movedMs > STALL_MAX_MS)
      throw new DemoError(
        `the mirror has not moved for ${STALL_MAX_MS / 1000} s (${mirror.mirror_status}, ${reasonOf(mirror)}): ` +
          behind
            .map(lag => `partition ${lag.partition} is at ${lag.log_end_offset} of ${endOffsets[lag.partition]}`)
            .join(', '),
      )
    await sleep(clock, POLL_MS, signal)
  }
}

/** Resolves when the mirror is STOPPED. */
export async function failOver(stage: DemoStage, { node, link, topic }: StagedMirror): Promise<void> {
  const { clock, signal } = stage
  const deadlineMs = clock.monotonicMs() + FAILOVER_MAX_MS
  await node.rest.failOver(link, topic)
  for (;;) {
    signal.throwIfAborted()
    const mirror = await node.rest.mirror(link, topic)
    if (mirror.mirror_status === 'STOPPED') return
    if (clock.monotonicMs() > deadlineMs)
      throw new DemoError(
        `after ${FAILOVER_MAX_MS / 1000} s the mirror is ${mirror.mirror_status} and not STOPPED: ${reasonOf(mirror)}`,
      )
    await sleep(clock, POLL_MS, signal)
  }
}

const reasonOf = (mirror: MirrorData): string =>
  mirror.mirror_lags.find(({ reason }) => reason !== null)?.reason ?? mirror.reason ?? 'no reason given'

/** One more record; it must get the offset behind all that was mirrored. */
export async function appendOne(
  stage: DemoStage,
  client: TopicClient,
  { partition, expectedOffset }: { partition: number; expectedOffset: number },
): Promise<void> {
  const value = Buffer.from('{"note":"written after the failover"}')
  const batches = buildBatch({ records: [{ timestamp: BigInt(stage.clock.nowMs()), key: null, value }] })
  const offset = (await client.append([{ partition, batches }])).get(partition)
  if (offset !== expectedOffset)
    throw new DemoError(
      `${client.topic}-${partition}: the first record after the failover got offset ${offset}, not ${expectedOffset}`,
    )
}

/** Rejects when the demo is to end. */
export function interrupted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
