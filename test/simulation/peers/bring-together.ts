// What an operator does who finds the two sides in whatever state after an outage, until every topic has one writer and a mirror that is the same. Throws where that does not lead there.
import { deepEqual } from 'node:assert/strict'
import type { MirrorVerb } from '../../../src/link/engine-api.ts'
import { mirrorRequest } from '../../../src/link/fakes/engine-world.ts'
import { ask, relink } from './peer-actions.ts'
import { keyOf } from './peer-clients.ts'
import type { PeersRun } from './peers-run.ts'
import { placeOf } from './peers-world.ts'
import type { SimulatedPeer } from './simulated-peer.ts'

/** An operator tries so often. */
const attemptsMax = 10

/** Refusals after which the documentation says: delete the topic, and mirror it anew. */
const nothingCommon = /nothing tells what|is the same at both clusters|the log begins at offset/

export async function bringTogether(run: PeersRun): Promise<void> {
  const { world } = run
  const refusals: string[] = []
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    await world.until(relink(run))
    const apart = world.topics.filter(topic => !isTogether(run, topic))
    if (apart.length === 0) return
    for (const topic of apart) {
      const move = moveOf(run, topic)
      const answer = await world.until(ask(run, { ...move, topics: [topic], exportDivergent: true }))
      if (answer) refusals.push(`${move.side.name} ${move.verb} ${topic}: ${answer}`)
      await react(run, { ...move, topic, answer: answer ?? '' })
    }
    await world.step(30_000, () => run.look())
  }
  const told = world.topics.filter(topic => !isTogether(run, topic)).map(topic => toldOf(run, topic))
  throw new Error(`there is no way to one writer and its mirror (${told.join('; ')}): ${refusals.join('; ')}`)
}

const toldOf = ({ world }: PeersRun, topic: string): string => {
  const sides = world.sides.map(side => {
    const ends = side.logs(topic).map(log => log.logEndOffset)
    return `${side.name} ${side.status(topic)}${side.isWritable(topic) ? ' writable' : ''} to ${ends}`
  })
  return `${topic}: ${sides.join(', ')}`
}

interface Move {
  readonly side: SimulatedPeer
  readonly verb: MirrorVerb
}

function moveOf({ world }: PeersRun, topic: string): Move {
  const { east, west, sides } = world
  const [writer, second] = sides.filter(side => side.isWritable(topic))
  const statusOf = (side: SimulatedPeer) => side.status(topic) ?? ''
  if (!writer) {
    // Nobody may write: whoever was the mirror takes over, or the source stays what it was.
    const failing = [west, east].find(side => !['', 'STOPPED'].includes(statusOf(side))) ?? west
    return { side: failing, verb: 'failover' }
  }
  const loser = second ? (world.seed % 2 === 0 ? east : west) : world.other(writer)
  if (!second && ['PAUSED', 'PENDING_SYNCHRONIZE'].includes(statusOf(loser))) return { side: loser, verb: 'resume' }
  if (['FAILED', 'PENDING_STOPPED'].includes(statusOf(loser))) return { side: loser, verb: 'failover' }
  return { side: loser, verb: 'truncate-and-restore' }
}

/** What the refusals and the documentation tell him to do. */
async function react(
  { world, clients }: PeersRun,
  { side, topic, answer }: Move & { readonly topic: string; readonly answer: string },
): Promise<void> {
  const other = world.other(side)
  const [, partitions] = /it has (\d+) partitions, at the other cluster/.exec(answer) ?? []
  if (partitions !== undefined) clients.grow(other, topic, Number(partitions))
  const isStranger = nothingCommon.test(answer) || (other.isWritable(topic) && side.logs(topic).length === 0)
  if (!isStranger) return
  clients.deleteTopic(side, topic)
  await world.step(2000)
  const told = await world.until(
    side.cluster.engine.createMirror('twin', mirrorRequest(topic)).then(
      () => 'it is mirrored anew',
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    ),
  )
  world.note(`${side.name} creates ${topic}: ${told}`)
}

/** One writes, the other follows, and has the same, but for what was compacted. */
function isTogether({ world, clients }: PeersRun, topic: string): boolean {
  const [writer, second] = world.sides.filter(side => side.isWritable(topic))
  if (!writer || second || world.other(writer).status(topic) !== 'ACTIVE') return false
  const contents = ({ logs }: { logs: ReturnType<SimulatedPeer['logs']> }) =>
    logs.map(({ batches }, partition) =>
      batches
        .filter(({ header }) => !clients.deleted.has(keyOf(header.producerId, placeOf(topic, partition))))
        .map(({ header }) => `${header.baseOffset}:${header.crc}`),
    )
  try {
    const [ours, theirs] = world.sides.map(side => contents({ logs: side.logs(topic) }))
    deepEqual(ours, theirs)
    return true
  } catch {
    return false
  }
}
