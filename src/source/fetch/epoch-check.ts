/** Compares histories before the first fetch after a connect or leader change (KIP-320): the fetch slots run it, the sinks judge the answers. */
import type { EpochEnd, SinkDecision } from '../../link/ports.ts'
import type { BrokerConnection } from '../../network/broker-connection.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { BrokerPool } from '../broker-pool.ts'
import { sourceErrorOf } from '../source-error-of.ts'
import { askEpochEnds, type EpochAnswer, type EpochQuestion } from './epoch-ends.ts'
import type { PartitionFetch } from './partition-fetch.ts'
import type { PartitionOutcomes } from './partition-outcomes.ts'

export interface EpochCheckOptions {
  /** The slot's broker and its connection. */
  readonly brokerId: number
  readonly connection: BrokerConnection
  readonly pool: BrokerPool
  readonly outcomes: PartitionOutcomes
  readonly signal: AbortSignal
}

/**
 * Takes those out of `ready` for which the source has not been asked on this connection and in this leader epoch, asks, and
 * hands the answers to the sinks without waiting for them. Partitions without a known epoch need no question and stay.
 * Rejects when the slot's own connection fails; all its partitions are in `ready` again then.
 */
export async function checkEpochs(ready: Set<PartitionFetch>, options: EpochCheckOptions): Promise<void> {
  const { brokerId } = options
  const questions = dueQuestions(ready, options)
  if (questions.length === 0) return
  const byLeader = Map.groupBy(questions, ({ partition }) => partition.route?.leader ?? brokerId)
  const elsewhere = [...byLeader].filter(([leader]) => leader !== brokerId)
  // A partition that is read from a follower: only its leader knows the history.
  for (const [leader, asked] of elsewhere) void askElsewhere(leader, asked, options)
  const here = byLeader.get(brokerId)
  if (here) await askHere(here, ready, options)
}

function dueQuestions(ready: Set<PartitionFetch>, { connection, outcomes }: EpochCheckOptions): EpochQuestion[] {
  const questions: EpochQuestion[] = []
  for (const partition of ready) {
    const { route, checkedFor } = partition
    if (!route || (checkedFor?.connection === connection && checkedFor.leaderEpoch === route.leaderEpoch)) continue
    partition.checkedFor = { connection, leaderEpoch: route.leaderEpoch }
    const position = outcomes.positionOf(partition)
    if (position && position.lastSourceEpoch === undefined) continue
    ready.delete(partition)
    if (position?.lastSourceEpoch === undefined) continue
    partition.enter('fetching')
    questions.push({ partition, currentLeaderEpoch: route.leaderEpoch, requestedEpoch: position.lastSourceEpoch })
  }
  return questions
}

async function askHere(
  questions: readonly EpochQuestion[],
  ready: Set<PartitionFetch>,
  options: EpochCheckOptions,
): Promise<void> {
  try {
    judge(questions, await askEpochEnds(options.connection, questions, options.signal), options)
  } catch (error) {
    for (const { partition } of questions) {
      if (partition.phase !== 'fetching') continue
      partition.checkedFor = undefined
      partition.enter('ready')
      ready.add(partition)
    }
    throw error
  }
}

/** Never rejects. */
async function askElsewhere(
  leader: number,
  questions: readonly EpochQuestion[],
  options: EpochCheckOptions,
): Promise<void> {
  try {
    const connection = await options.pool.questionsTo(leader, options.signal)
    judge(questions, await askEpochEnds(connection, questions, options.signal), { ...options, brokerId: leader })
  } catch (error) {
    const failure = sourceErrorOf(error)
    for (const { partition } of questions) {
      partition.checkedFor = undefined
      if (partition.phase === 'fetching') options.outcomes.unreachable(partition, failure)
    }
  }
}

function judge(questions: readonly EpochQuestion[], answers: readonly EpochAnswer[], options: EpochCheckOptions): void {
  const { outcomes, brokerId } = options
  const answered = new Map(answers.map(answer => [answer.question, answer]))
  for (const question of questions) {
    const { partition, requestedEpoch } = question
    if (partition.isStopped) continue
    const answer = answered.get(question)
    if (answer?.errorCode === ErrorCode.NONE) {
      const { epoch, endOffset } = answer
      outcomes.deliver(partition, () => tellSink(partition, { requestedEpoch, epoch, endOffset }))
    } else {
      partition.checkedFor = undefined
      if (answer) outcomes.errorCode(partition, answer.errorCode, { fetchOffset: -1, brokerId })
      else outcomes.leftOut(partition, `OffsetForLeaderEpoch of broker ${brokerId}`)
    }
  }
}

/** Checked is only what the sink has judged: after a pause, or a failure of the sink, the source is asked again. */
async function tellSink(
  partition: PartitionFetch,
  answer: EpochEnd & { readonly requestedEpoch: number },
): Promise<SinkDecision> {
  const { checkedFor } = partition
  partition.checkedFor = undefined
  const decision = await partition.sink.onEpochEnd(answer)
  if (decision === 'continue') partition.checkedFor = checkedFor
  return decision
}
